"""An incident at night: a queue grows, three suspects, one cause, and a list of things to put back."""

from noise import columns
from noise import told
from noise import weave
from scene import Scene

WORKER = [
    "level=info msg=\"batch settled\" batch=<100000-999999> items=<1-64> took=<40-900>ms",
    "level=info msg=ack tag=<1000-99999> queue=settle.inbound",
    "level=debug msg=\"ledger call\" method=<Post|Hold|Release> code=OK took=<4-120>ms",
    "level=info msg=\"currency table fresh\" age=<1-900>s",
    "level=warn msg=\"slow ack\" took=<1000-4000>ms tag=<1000-99999>",
    "level=debug msg=gc heap=<180-420>MiB pause=<1-30>ms",
]


def pods(d, count, status="Running", extra=()):
    rows = [[f"settlement-worker-{d.digits(9)}-{d.digits(5)}", "2/2", status, d.fill("<0-3>"), d.fill("<2-47>m"), d.fill("pool-<a|b|c>-<10-40>")] for _ in range(count)]
    rows[count // 2 : count // 2] = [list(row) for row in extra]
    return columns([["NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE"], *rows])


def series(d, name, count, low, high, start_minute):
    return told({"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"__name__": name, "pod": d.fill("settlement-worker-<#5>")}, "values": [[1762900000 + 60 * (start_minute + n), str(d.number(low, high))] for n in range(count)]}]}}).replace("\n      ", " ").replace("\n     ", " ")


def build() -> Scene:
    s = Scene(
        "debug-queue-incident", "debugging",
        "A payment queue backs up at night. Two suspects are cleared, the cause is a renamed setting, rolling back is ruled out by a migration, "
        "the remedy's value changes twice, the incident commander changes, and several temporary measures must be undone before the incident closes.",
        call_prefix="tc_",
    )
    d = s.dice
    amqp = s.secret("Kx9", "nope", "Amqp", "7788qq")
    bearer = s.secret("nope4471", "prom2222", "dddd4444eeee5555ffff")
    s.system("You are an operations assistant on an incident bridge. You have read and write access through tools (kubectl, promql, logs, helm, incident_note). Be exact, give times in UTC, and say what you changed.")
    s.user("INC-2291 is open. Settlement is behind: queue settle.inbound stands at 184,000 and climbs. I am incident commander (primary on-call). Rules for tonight: never purge a queue, never go below 6 worker replicas, write an incident_note before every change, all times in UTC. Change freeze begins at 21:00. Service is settlement-worker in namespace pay-prod, cluster eu-1. Start.")
    s.do("Taking a first look at the workers.",
         ("kubectl", {"cluster": "eu-1", "args": "-n pay-prod get pods -l app=settlement-worker"}, "No resources found in pay-prod namespace."),
         ("promql", {"query": "rabbitmq_queue_messages{queue='settle.inbound'}", "header": "Authorization: Bearer " + bearer}, series(d, "rabbitmq_queue_messages", 12, 181000, 186000, 0)))
    s.say("There are no such pods on eu-1.")
    s.user("Right, settlement moved in October. It is cluster eu-3 now.")
    s.do("",
         ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod get pods -l app=settlement-worker -o wide"}, pods(d, 10)),
         ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod logs deploy/settlement-worker -c worker --tail=30"}, "\n".join(d.log(24, "2026-11-11T18:20:04", (300, 1400), [line.replace("<1-64>", "1") for line in WORKER]))))
    s.say("Ten pods run on eu-3, none restarting, they just settle slowly. First suspect: the database pool.")
    s.do("",
         ("promql", {"query": "pgbouncer_pools_server_active{db='settle'}"}, series(d, "pgbouncer_pools_server_active", 14, 34, 41, 0)),
         ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod get cm pgbouncer -o jsonpath='{.data}'"}, told({"default_pool_size": "120", "pool_mode": "transaction", "server_idle_timeout": "60"})))
    s.say("Cleared: about 40 of 120 connections are in use. Second suspect: a poison message being redelivered.")
    s.do("",
         ("logs", {"query": "app=settlement-worker redelivered=true", "since": "45m"}, "0 matches in 45m (1,204,331 lines scanned)"),
         ("rabbit", {"op": "list_queues", "vhost": "pay"}, columns([["name", "messages", "unacked", "consumers", "prefetch"], ["settle.inbound", "186,410", "10", "10", "1"], ["settle.dead", "1,312", "0", "0", "-"], ["settle.audit", "0", "14", "2", "32"], ["refund.inbound", "41", "128", "4", "64"], ["payout.inbound", "7", "96", "3", "64"], ["notify.mail", "0", "20", "2", "20"]])))
    s.say("No redeliveries, so no poison message. But: ten consumers with ten unacknowledged messages. The prefetch of settle.inbound is 1; the neighbours have 64. And settle.dead holds 1,312 messages.")
    s.user("Prefetch 1? It was 250 for years. What changed? And do not replay settle.dead on your own: finance must confirm the day's cut-off first. Keep that on the list.")
    s.do("",
         ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod rollout history deploy/settlement-worker"}, columns([["REVISION", "CHANGE-CAUSE"], ["61", "release 4.7.0"], ["62", "release 4.7.1"], ["63", "release 4.7.2 at 17:38 UTC"]])),
         ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod exec deploy/settlement-worker -c worker -- env"}, weave(d.lines(22, ["<OTEL|FEATURE|GODEBUG|LEDGER|CURRENCY>_<ENDPOINT|RATIO|FLAGS|TIMEOUT|REGION>_<1-9>=<true|false|30s|0.1|eu>", "KUBERNETES_<SERVICE|PORT>_<1-99>=tcp"]), "AMQP_PREFETCH=250", f"AMQP_URL=amqps://settle:{amqp}@mq.pay.example.org:5671/pay", "DB_POOL=12")),
         ("terminal", {"command": "git -C settlement diff v4.7.1..v4.7.2 -- internal/mq/config.go"}, "diff --git a/internal/mq/config.go b/internal/mq/config.go\n@@ -18,7 +18,7 @@ type Config struct {\n \tURL      string        `env:\"AMQP_URL,required\"`\n-\tPrefetch int           `env:\"AMQP_PREFETCH\" envDefault:\"250\"`\n+\tPrefetch int           `env:\"MQ_PREFETCH\" envDefault:\"1\"`\n \tTimeout  time.Duration `env:\"AMQP_TIMEOUT\" envDefault:\"10s\"`"))
    s.say("Found: release 4.7.2 at 17:38 renamed AMQP_PREFETCH to MQ_PREFETCH with a default of 1. The chart still sets the old name, so every worker takes one message at a time. Shall I roll back to 4.7.1?")
    s.user("Check the migrations before you even think of a rollback.")
    s.do("", ("terminal", {"command": "git -C settlement diff --stat v4.7.1..v4.7.2 -- migrations && cat settlement/migrations/118_drop_legacy_ref.sql"}, " migrations/118_drop_legacy_ref.sql | 3 +++\n 1 file changed, 3 insertions(+)\n-- applied on deploy, not reversible\nALTER TABLE settlements DROP COLUMN legacy_ref;"))
    s.say("No rollback: migration 118 dropped the column legacy_ref, and 4.7.1 reads it on every batch; it would crash on start. So we go forward: set MQ_PREFETCH on 4.7.2.")
    s.user("Agreed, forward. Set it to 250 as before.")
    s.do("",
         ("incident_note", {"incident": "INC-2291", "text": "18:52 UTC setting MQ_PREFETCH=250 on settlement-worker (eu-3), pausing settlement-hpa so that it does not fight us."}, "noted #4"),
         ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod patch hpa settlement-hpa --type merge -p '{\"spec\":{\"minReplicas\":10,\"maxReplicas\":10}}'"}, "horizontalpodautoscaler.autoscaling/settlement-hpa patched (was min 6, max 24)"),
         ("helm", {"args": "upgrade settlement charts/settlement --reuse-values --set env.MQ_PREFETCH=250"}, "Release \"settlement\" has been upgraded. REVISION: 64"))
    s.do("", ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod get pods -l app=settlement-worker"}, pods(d, 4, "Running", [["settlement-worker-6f7c-x2", "1/2", "OOMKilled", "3", "4m", "pool-b-17"], ["settlement-worker-6f7c-k9", "1/2", "OOMKilled", "2", "4m", "pool-a-31"]])))
    s.say("With 250 the workers are OOMKilled: 4.7.2 keeps whole documents in memory. I go to 128.")
    s.do("",
         ("incident_note", {"incident": "INC-2291", "text": "19:02 UTC lowering MQ_PREFETCH to 128."}, "noted #5"),
         ("helm", {"args": "upgrade settlement charts/settlement --reuse-values --set env.MQ_PREFETCH=128"}, "Release \"settlement\" has been upgraded. REVISION: 65"),
         ("promql", {"query": "rate(go_gc_duration_seconds_sum[2m])"}, series(d, "go_gc_duration_seconds_sum", 10, 38, 61, 30)))
    s.say("No more kills with 128, but collection takes 38 to 61 % of a core on each worker.")
    s.user("That is half the CPU in garbage collection. Make it 64 like the neighbours and leave it there.")
    s.do("",
         ("incident_note", {"incident": "INC-2291", "text": "19:11 UTC MQ_PREFETCH=64, final; attaching a debug container to one pod."}, "noted #6"),
         ("helm", {"args": "upgrade settlement charts/settlement --reuse-values --set env.MQ_PREFETCH=64"}, "Release \"settlement\" has been upgraded. REVISION: 66"),
         ("kubectl", {"cluster": "eu-3", "args": "-n pay-prod debug deploy/settlement-worker --image=registry.example.org/tap:1 -c tap-7"}, "ephemeral container tap-7 added to 1 pod"))
    s.say("MQ_PREFETCH is 64 now and stays. I attached a debug container, tap-7, to watch acknowledgements; I will remove it before the incident is closed, and I will put settlement-hpa back to min 6, max 24.")
    s.user("Good. I hand over at 19:15: the night lead is incident commander from now on, ask them for approvals, not me. One more open point: QueueDepthHigh fired 38 minutes late. The monitoring team looks into it, we wait for them.")
    # Newer half: the drain and a second, smaller problem.
    for minute, depth in ((20, "172,840"), (25, "161,902"), (30, "150,366"), (35, "139,877"), (40, "129,104"), (45, "118,240")):
        s.do("" if minute > 20 else "The night lead is in charge. Watching the drain.",
             ("rabbit", {"op": "queue", "name": "settle.inbound", "at": f"19:{minute}"}, told({"messages": depth, "unacked": "640", "consumers": 10, "publish_rate": d.fill("<218-228>.<0-9>/s"), "ack_rate": d.fill("<256-268>.<0-9>/s"), "node": "rabbit@mq-2", "memory_mib": d.fill("<800-1200>")})))
        if minute % 10:
            s.do("", ("logs", {"query": "app=settlement-worker level=warn OR level=error", "since": "10m"}, "\n".join(d.log(14, f"2026-11-11T19:{minute}:02", (2000, 30000), WORKER[3:]))))
    s.say("The drain holds: 161,902, then 139,877, then 118,240 messages, about 40 a second net.")
    s.user("Night lead here. I see red on the ledger panel. What is it?")
    s.do("",
         ("promql", {"query": "sum by (code) (rate(ledger_calls_total[5m]))"}, told({"status": "success", "data": {"result": [{"metric": {"code": code}, "value": [1762904700, value]} for code, value in (("OK", "259.4"), ("UNAVAILABLE", "4.2"), ("DEADLINE_EXCEEDED", "0.2"))]}})),
         ("logs", {"query": "app=settlement-worker ledger error", "since": "15m"}, weave(d.log(34, "2026-11-11T19:46:10", (500, 9000), WORKER), "level=error msg=\"ledger call\" err=\"TLS handshake timeout\" target=ledger-proxy-c:7443 node=pool-c-22", "level=error msg=\"ledger call\" err=\"TLS handshake timeout\" target=ledger-proxy-c:7443 node=pool-c-19", "level=error msg=\"ledger call\" err=\"TLS handshake timeout\" target=ledger-proxy-c:7443 node=pool-c-22", at=0.5)))
    s.do("All errors are from one node pool.",
         ("kubectl", {"args": "top nodes"}, columns([["NAME", "CPU(cores)", "CPU%", "MEMORY(bytes)", "MEMORY%"], *[[f"pool-{p}-{n}", d.fill("<400-3900>m"), d.fill("<12-61>%"), d.fill("<3000-14000>Mi"), d.fill("<20-70>%")] for p in "abc" for n in range(11, 23)]])),
         ("kubectl", {"args": "describe pod -l app=ledger-proxy,pool=c"}, weave(d.lines(40, ["  <Volumes|Mounts|Conditions|Labels|Annotations>: <cfg|tls|cache|tmp>-<#6>", "    <Type|Optional|SizeLimit|Name>: <Secret|ConfigMap|false|64Mi|ca-bundle>", "  Normal  <Pulled|Created|Started|Scheduled>  <2-58>m  kubelet  container <proxy|init-ca|metrics>"]), "    Limits:  cpu: 100m", "    Requests: cpu: 100m", "  Warning  CPUThrottlingHigh  4m (x61 over 22m)  proxy throttled 93 % of periods", at=0.6)))
    s.say("ledger-proxy-c is throttled: its CPU limit is 100m, pools a and b have 500m. About 1.7 % of ledger calls fail and are retried, nothing is lost. Proposal: raise the limit of ledger-proxy-c to 500m. That is a change, so I need your yes.")
    s.user("Yes, but note it first.")
    s.do("",
         ("incident_note", {"incident": "INC-2291", "text": "20:04 UTC raising cpu limit of ledger-proxy-c from 100m to 500m, approved by the night lead."}, "noted #9"),
         ("kubectl", {"args": "set resources deploy/ledger-proxy-c --limits=cpu=500m --requests=cpu=200m"}, "deployment.apps/ledger-proxy-c resource requirements updated"))
    s.do("", ("logs", {"query": "TLS handshake timeout", "since": "5m"}, "0 matches in 5m (188,020 lines scanned)"),
         ("rabbit", {"op": "queue", "name": "settle.inbound", "at": "20:15"}, told({"messages": "52,118", "unacked": "640", "consumers": 10, "ack_rate": "264.4/s"})))
    s.do("", ("kubectl", {"args": "rollout status deploy/ledger-proxy-c"}, "deployment \"ledger-proxy-c\" successfully rolled out"))
    s.do("", ("promql", {"query": "ledger_calls_total{code!='OK'}"}, series(d, "ledger_calls_total", 10, 0, 2, 90)))
    s.say("Handshakes are clean since 20:06, and 52,118 messages are left. At this pace the queue is empty at about 20:38.")
    s.user("Draft me the customer note, two sentences, no blame. Then carry on.")
    s.say("Draft: \"Between 17:38 and 20:40 UTC settlements were delayed; no payment was lost or doubled. Processing is back to its usual pace and all delayed settlements will carry today's date.\"")
    s.user("Take out 'will carry today's date', we do not know that. Otherwise fine.")
    s.do("", ("incident_note", {"incident": "INC-2291", "text": "20:19 UTC customer note approved without the sentence on value dates."}, "noted #10"),
         ("rabbit", {"op": "list_queues", "vhost": "pay"}, columns([["name", "messages", "unacked", "consumers"], ["settle.inbound", "43,240", "640", "10"], ["settle.audit", "0", "9", "2"], ["refund.inbound", "12", "64", "4"], ["payout.inbound", "3", "41", "3"], ["notify.mail", "2", "20", "2"]])),
         ("kubectl", {"args": "get events --sort-by=.lastTimestamp"}, d.table(["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"], 30, ["<1-59>m", "Normal", "<Pulled|Created|Started|ScalingReplicaSet>", "pod/<settlement-worker|payout|refund|ledger-proxy>-<#5>", "<Container image already present|Created container|Started container|Scaled up>"])))

    s.bank_description = "Cause, remedy and its final value, why there was no rollback, who approves now, and everything temporary that has to be put back before the incident closes."
    s.ask("recall-cluster", "recall", "On which cluster and in which namespace does the affected service run?", [("cluster eu-3", "eu-3", "eu3"), "pay-prod"], [("cluster eu-1", "runs on eu-1", "on eu-1 cluster")])
    s.ask("recall-cause", "recall", "What caused the backlog? Name the release and both names of the setting.", [("release 4.7.2", "4.7.2", "v4.7.2"), "AMQP_PREFETCH", "MQ_PREFETCH"], [("Second suspect: a poison message", "caused by a poison message", "poison message is the cause"), ("First suspect: the database pool", "caused by the database pool", "connection pool is exhausted")])
    s.ask("recall-rules", "recall", "Which rules hold for the night about queues, replicas and changes?", [("never purge a queue", "no queue may be purged", "do not purge"), ("below 6 worker replicas", "at least 6 replicas", "minimum of 6 replicas", "below 6 replicas"), ("incident_note before every change", "note before each change", "incident note before"), ("freeze begins at 21:00", "change freeze at 21:00", "freeze from 21:00")])
    s.ask("artifact-setting", "artifact", "To which value was the setting finally put?", [("MQ_PREFETCH=64", "Make it 64", "MQ_PREFETCH is 64", "MQ_PREFETCH to 64")], [("MQ_PREFETCH=250", "prefetch is 250 now", "set to 250"), ("MQ_PREFETCH=128", "prefetch is 128 now", "I go to 128")])
    s.ask("artifact-ledger-proxy", "artifact", "Which second deployment was changed during the incident, in what, and from what to what?", ["ledger-proxy-c", ("from 100m to 500m", "100m to 500m", "cpu limit 500m", "limits=cpu=500m")])
    s.ask("decision-no-rollback", "decision", "Why was the release not rolled back?", [("migration 118", "118_drop_legacy_ref", "migrations/118"), "legacy_ref"], [("Shall I roll back to 4.7.1", "roll back to 4.7.1", "rollback to 4.7.1 is planned")])
    s.ask("decision-values", "decision", "Why were the two higher values of the setting given up?", [("OOMKilled", "out of memory", "ran out of memory"), ("garbage collection", "GC time", "collecting garbage")])
    s.ask("decision-commander", "decision", "Whose approval is needed for changes now, and since when?", [("night lead", "the night lead", "lead of the night"), ("at 19:15", "19:15 UTC", "since 19:15")], [("I am incident commander", "primary on-call approves", "primary on-call is incident commander")])
    s.ask("continuation-put-back", "continuation", "Which temporary measures must be undone before the incident is closed, and to what values?", ["tap-7", "settlement-hpa", ("min 6, max 24", "6 to 24", "minReplicas 6", "max 24")])
    s.ask("continuation-dead-letters", "continuation", "How many messages wait in the dead-letter queue, and what must happen before they are replayed?", [("1,312", "1312", "1 312"), ("finance must confirm", "confirmation from finance", "finance confirms", "confirmed by finance")])
    s.ask("continuation-waiting", "continuation", "Which question about alerting is open, and who is it with?", ["QueueDepthHigh", ("38 minutes late", "38 min late", "late by 38 minutes"), ("monitoring team", "team for monitoring", "with monitoring")])
    return s
