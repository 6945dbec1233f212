"""The backups of a small lab are planned job by job with a scheduler."""

from noise import columns
from noise import told
from noise import weave
from scene import Scene


def build() -> Scene:
    s = Scene(
        "config-backup-plan", "configuration",
        "Backup jobs of a small lab are created, moved and deleted one by one. The target host is replaced, one start time changes twice, the retention "
        "changes for a legal reason, two directories differ by a suffix, and a restore test is left failing.",
        call_prefix="call-",
    )
    d = s.dice
    restic = s.secret("mW6", "nope", "Tresor", "4417zzQ")
    vault = s.secret("nope4471", "vault3333", "9999eeee8888ffff7777")
    s.system("You administer machines of a small organisation through tools (shell, schedule, vault). Be brief. List what changed.")
    jobs: dict[str, dict] = {}

    def answer(action, name, **fields):
        if action == "delete":
            jobs.pop(name)
            return told({"ok": True, "deleted": name})
        jobs[name] = {**jobs.get(name, {"id": d.digits(10), "enabled": True, "runner": "root@backup-runner", "shell": "/bin/sh", "nice": 10, "created_by": "agent"}), **fields}
        row = jobs[name]
        return told({"ok": True, "job": {"name": name, **row, "environment": {"LANG": "C.UTF-8", "TMPDIR": "/var/tmp", "RESTIC_CACHE_DIR": "/var/cache/restic"}, "on_failure": {"retries": 1, "wait_s": 900, "mail": "ops@example.org"}, "history": [], "next_run": d.fill("2026-11-<18-24>T0<0-6>:<10-59>:00Z"), "audit": {"request": d.digits(16), "by": "agent", "source": "api"}}})

    def schedule(action, name, **fields):
        return ("schedule", {"action": action, "name": name, **fields}, answer(action, name, **fields))

    def restic_run(count, facts=(), at=0.7):
        return weave(d.log(count, "2026-11-17T19:04:00", (300, 4000), ["scan: <100-9000> files, <1-90>.<0-9> GiB", "upload pack <#12> <4-16>.<0-9> MiB", "unchanged /srv/<wiki|gis|ldap|mail>/<#4>/<#8>.<dat|idx|xml|tif>", "new /srv/<wiki|gis|ldap|mail>/<#4>/<#8>.<dat|idx|xml|tif>"], "%H:%M:%S"), *facts, at=at)

    s.user("Set up backups for the lab. Hosts: wiki, mail, ldap, gis, nas1. House rules: every job name ends in -lab, nothing runs between 08:00 and 18:00, failures go to ops@example.org and only there, and `restic forget --prune` is never automated, I run that by hand. Target is vault-a.example.net, sftp. borg or restic, you choose, but say why.")
    s.do("Checking what the target can do.",
         ("shell", {"host": "backup-runner", "command": "sftp -b /dev/null backup@vault-a.example.net; ssh backup@vault-a.example.net which borg"}, "Connected to vault-a.example.net.\nThis service allows sftp connections only.\n[exit 1]"),
         ("shell", {"host": "backup-runner", "command": "for h in wiki mail ldap gis nas1; do ssh $h 'hostname; du -sh /srv/* 2>/dev/null'; done"}, weave(d.lines(22, ["<1-900><K|M|G>\t/srv/<www|home|log|cache|spool|archive|tmp>-<#3>"]), "61G\t/srv/gis/tiles", "188G\t/srv/gis/tiles-src", "9.4G\t/srv/wiki", "212G\t/srv/mail", "1.1T\t/srv/photos")))
    s.say("restic, not borg: the target allows sftp only and borg needs its own program on the other side. First job next?")
    s.user(f"restic then. Repository password: RESTIC_PASSWORD={restic}. First job: wiki, nightly, 01:30, keep 7 daily, 8 weekly, 12 monthly.")
    s.do("", schedule("create", "wiki-nightly-lab", cron="30 1 * * *", host="wiki", paths=["/srv/wiki"], keep="7d 8w 12m", target="sftp:backup@vault-a.example.net:/srv/restic"))
    s.say("wiki-nightly-lab exists, 01:30, target vault-a.")
    s.user("Next ldap, daily 00:45. And photos from nas1, monthly on the 1st at 04:00.")
    s.do("",
         schedule("create", "ldap-daily-lab", cron="45 0 * * *", host="ldap", paths=["/var/lib/ldap"], keep="7d 8w 12m", target="sftp:backup@vault-a.example.net:/srv/restic"),
         schedule("create", "photos-monthly-lab", cron="0 4 1 * *", host="nas1", paths=["/srv/photos"], keep="7d 8w 12m", target="sftp:backup@vault-a.example.net:/srv/restic"))
    s.say("Both exist: ldap-daily-lab at 00:45, photos-monthly-lab on the 1st at 04:00.")
    s.user("Just heard: vault-a is being decommissioned, the contract ends on 30 November. Everything goes to vault-b.example.net, directory /srv/restic-lab. What is left on vault-a must be wiped before that date, put it on your list. Token for the vault API if you need it is in vault.")
    s.do("",
         ("vault", {"op": "read", "path": "lab/vault-b"}, told({"data": {"host": "vault-b.example.net", "user": "backup", "token": vault, "fingerprint": "SHA256:" + d.digits(40)}})),
         schedule("update", "wiki-nightly-lab", target="sftp:backup@vault-b.example.net:/srv/restic-lab"),
         schedule("update", "ldap-daily-lab", target="sftp:backup@vault-b.example.net:/srv/restic-lab"),
         schedule("update", "photos-monthly-lab", target="sftp:backup@vault-b.example.net:/srv/restic-lab"))
    s.say("All three jobs point to vault-b, /srv/restic-lab. On my list: wipe vault-a before 30 November.")
    s.user("Wiki job collides with the dump. Move it to 02:10.")
    s.do("", ("shell", {"host": "wiki", "command": "systemctl list-timers --no-pager; journalctl -u wiki-dump -n 5 --no-pager"}, d.table(["NEXT", "LEFT", "LAST", "UNIT"], 12, ["<Tue|Wed> 0<0-6>:<10-59>", "<1-20>h", "<Mon|Tue> 0<0-6>:<10-59>", "<logrotate|fstrim|certbot|man-db|sysstat>.timer"], [["Tue 02:00", "7h", "Mon 02:00", "wiki-dump.timer"]]) + "\nwiki-dump: finished 03:21, 8.8G"))
    s.say("The dump starts at 02:00 and ends at 03:21, so 02:10 would read a half-written file.")
    s.user("Then 03:40, and leave it there.")
    s.do("", schedule("update", "wiki-nightly-lab", cron="40 3 * * *"))
    s.say("wiki-nightly-lab starts at 03:40 now, after the dump.")
    s.user("Mail: hourly is too much, every night 22:30. Retention for mail: the data protection officer allows at most 14 days, no weekly or monthly copies. gis: Sundays 05:00. /srv/gis/tiles can be left out, it's rendered again from tiles-src in a day. tiles-src must be in, it cannot be replaced.")
    s.do("",
         schedule("create", "mail-nightly-lab", cron="30 22 * * *", host="mail", paths=["/srv/mail"], keep="14d", target="sftp:backup@vault-b.example.net:/srv/restic-lab"),
         schedule("create", "gis-weekly-lab", cron="0 5 * * 0", host="gis", paths=["/srv/gis"], exclude=["/srv/gis/tiles"], keep="8w 12m", target="sftp:backup@vault-b.example.net:/srv/restic-lab"))
    s.say("Two more: mail-nightly-lab at 22:30 with 14 days and nothing longer, gis-weekly-lab on Sundays at 05:00 without /srv/gis/tiles and with /srv/gis/tiles-src.")
    s.user("Photos: forget that job, the archive department takes them over. Delete it. And limit upload to 20 MB/s. No, the line is shared with the seminar rooms at night too, make it 8 MB/s.")
    s.do("",
         schedule("delete", "photos-monthly-lab"),
         ("shell", {"host": "backup-runner", "command": "echo 'RESTIC_LIMIT_UPLOAD=8192' > /etc/restic/limits.env && cat /etc/restic/limits.env"}, "RESTIC_LIMIT_UPLOAD=8192"))
    s.say("photos-monthly-lab is deleted, upload is limited to 8 MB/s in /etc/restic/limits.env.")
    s.user("A restore test every quarter, next one on 15 January. And somebody must print the repository key for the safe: the lab manager does it, but you have to prepare the sheet. Not now.")
    s.say("Noted: restore test on 15 January and then every quarter; I prepare the key sheet for the lab manager.")
    # Newer half.
    s.user("Run ldap once now, it's evening.")
    s.do("", ("shell", {"host": "backup-runner", "command": "schedule-run ldap-daily-lab --now"}, restic_run(30, ["Fatal: unable to create lock in backend: repository is already locked by PID 2231 on backup-runner", "lock was created at 2026-11-17 18:51:12 (13m ago)"], 0.95)))
    s.do("A lock of an aborted run.", ("shell", {"host": "backup-runner", "command": "ps -p 2231 -o pid,etime,cmd; restic unlock"}, "    PID     ELAPSED CMD\nsuccessfully removed 1 locks"))
    s.do("", ("shell", {"host": "backup-runner", "command": "schedule-run ldap-daily-lab --now"}, restic_run(34, ["snapshot 5be1a0c7 saved, 412 MiB in 2:07"], 0.99)))
    s.say("Process 2231 was gone, the lock was stale and is removed. Snapshot 5be1a0c7 of ldap is saved.")
    s.user("Now mail.")
    s.do("", ("shell", {"host": "backup-runner", "command": "schedule-run mail-nightly --now"}, "schedule-run: no job mail-nightly"))
    s.do("The full name, of course.", ("shell", {"host": "backup-runner", "command": "schedule-run --host mail --now"}, restic_run(76, ["snapshot e07733ad saved, 211.8 GiB in 7:31:40"], 0.99)))
    s.say("Snapshot e07733ad, 211.8 GiB in seven and a half hours; from tomorrow on only changes go over.")
    s.user("Morning. Test a restore of both.")
    s.do("", ("shell", {"host": "backup-runner", "command": "restic restore 5be1a0c7 --target /var/tmp/r1 --verify"}, restic_run(20, ["finished verifying 1,204 files in /var/tmp/r1, no errors"], 0.99)))
    s.do("", ("shell", {"host": "backup-runner", "command": "restic restore e07733ad --target /var/tmp/r2 --include /srv/mail/box-1 --verify"}, restic_run(50, ["error: pack a81f3c0e: ciphertext verification failed", "error: /srv/mail/box-1/cur/0417.eml: blob not found", "Fatal: there were 2 errors"], 0.9)))
    s.say("ldap restores cleanly. mail does not: pack a81f3c0e fails its verification, two errors. Something was damaged on the way or on the disk of the target.")
    s.user("Hm. Which of the two?")
    s.do("", ("shell", {"host": "backup-runner", "command": "restic check --read-data-subset=5%"}, restic_run(40, ["pack a81f3c0e: size 16777216, expected 16790021", "check: 1 of 1,322 packs damaged"], 0.8)))
    s.do("", ("shell", {"host": "backup-runner", "command": "dmesg -T | tail -40; ethtool -S eno1 | grep -E 'err|drop'"}, "\n".join(d.log(36, "2026-11-18T08:02:00", (2000, 50000), ["eno1: link <up|is up> 1000 Mbps", "EXT4-fs (sda<1-4>): <mounted|re-mounted>", "usb <1-3>-<1-4>: <new|reset> high-speed device", "audit: rate limit exceeded <1-30>"], "[%a %b %d %H:%M:%S]")) + "\n     rx_crc_errors: 0\n     tx_errors: 0\n     rx_dropped: 14"))
    s.say("The network counters are clean and exactly one pack is short by 12,805 bytes: it was truncated on the target. I would ask the provider for the disk's health before repairing.")
    s.user("Wrote to them, ticket 70318. Don't repair until they answer. Show me the schedule in the meantime, just counts.")
    s.do("", ("schedule", {"action": "count"}, told({"ok": True, "enabled": len(jobs), "disabled": 0, "failed_last_night": 1})))
    s.do("", ("shell", {"host": "backup-runner", "command": "journalctl -u 'schedule-*' --since yesterday --no-pager"}, restic_run(56, ["schedule: gis: not due", "schedule: mail sent, 1 recipient"], 0.5)))
    s.say("Four jobs are enabled, one failed last night.")
    s.user("Which one and why?")
    s.do("", ("shell", {"host": "backup-runner", "command": "journalctl -u schedule-wiki --since yesterday --no-pager"}, restic_run(40, ["Fatal: wiki: /srv/wiki/dump/latest.xml.gz: permission denied"], 0.97)))
    s.say("The wiki job: it may not read /srv/wiki/dump/latest.xml.gz since the dump user changed its umask. An ACL for the runner would do.")
    s.user("Do that.")
    s.do("", ("shell", {"host": "wiki", "command": "setfacl -R -m u:runner:rX -d -m u:runner:rX /srv/wiki/dump && getfacl /srv/wiki/dump"}, "# file: srv/wiki/dump\nuser::rwx\nuser:runner:r-x\ngroup::r-x\ndefault:user:runner:r-x"))

    s.bank_description = "The plan as it stands: target, jobs with times, retention with its reason, exclusions, house rules; and what is owed, dated or waiting."
    s.ask("recall-target", "recall", "On which host and in which directory do the backups go now?", ["vault-b.example.net", "/srv/restic-lab"], [("target vault-a", "backups go to vault-a", "Target is vault-a.example.net")])
    s.ask("recall-rules", "recall", "Which house rules hold for names, hours, alerts and pruning?", [("ends in -lab", "end in -lab", "suffix -lab", "ending in -lab"), ("between 08:00 and 18:00", "08:00 to 18:00", "08:00-18:00", "08:00–18:00"), "ops@example.org", ("forget --prune", "prune is never automated", "never automate pruning")])
    s.ask("recall-wiki-time", "recall", "When does the wiki's backup start, and why then?", [("03:40", "40 3 * * *", "3:40"), ("after the dump", "ends at 03:21", "finished 03:21", "dump ends")], [("wiki, nightly, 01:30", "wiki-nightly-lab at 01:30", "30 1 * * *"), ("Move it to 02:10", "starts at 02:10", "10 2 * * *")])
    s.ask("recall-limit", "recall", "To what speed is the upload limited, and in which file?", [("8 MB/s", "8192", "8 MB per second"), "/etc/restic/limits.env"], [("20 MB/s", "20480", "20 MB per second")])
    s.ask("artifact-jobs", "artifact", "Which jobs exist at the end?", ["wiki-nightly-lab", "ldap-daily-lab", "mail-nightly-lab", "gis-weekly-lab"], [("photos-monthly-lab",)])
    s.ask("artifact-gis", "artifact", "Which directory of the gis host is left out and which similar one must be kept?", [("/srv/gis/tiles can be left out", "without /srv/gis/tiles and", "leave out /srv/gis/tiles", "excludes /srv/gis/tiles"), "/srv/gis/tiles-src"])
    s.ask("artifact-snapshots", "artifact", "Which snapshots of ldap and mail were made by hand?", ["5be1a0c7", "e07733ad"])
    s.ask("decision-tool", "decision", "Which backup program was chosen and why?", [("restic, not borg", "restic was chosen", "chose restic", "restic instead of borg"), ("sftp only", "allows sftp connections only", "only sftp")])
    s.ask("decision-mail-retention", "decision", "How long are copies of mail kept, and who decided that?", [("at most 14 days", "14 days", "14d", "fourteen days"), ("data protection officer", "officer for data protection", "DPO")])
    s.ask("continuation-deadlines", "continuation", "What has to be done by which dates?", [("30 November", "November 30", "2026-11-30"), ("wipe vault-a", "wiped before that date", "vault-a must be wiped", "wiping vault-a"), ("15 January", "January 15", "2027-01-15"), ("restore test", "test of a restore", "test restore")])
    s.ask("continuation-key", "continuation", "What does the assistant have to prepare, and for whom?", [("key sheet", "print the repository key", "sheet with the repository key"), ("lab manager", "manager of the lab", "the lab's manager")])
    s.ask("continuation-damage", "continuation", "Which damage was found, and what is the repair waiting for?", ["a81f3c0e", ("ticket 70318", "70318", "provider's ticket")], [("already locked by PID 2231", "locked by PID 2231", "stale lock is open")])
    return s
