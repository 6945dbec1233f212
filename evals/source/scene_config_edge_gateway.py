"""A gateway on a factory floor is set up device by device; the technician writes half in German."""

from noise import columns
from noise import weave
from scene import Scene


def yaml(prefix, port, qos, buffer, devices):
    head = f"broker:\n  host: mqtt.leitstand.example.org\n  port: {port}\n  tls: {'true' if port == 8883 else 'false'}\n  qos: {qos}\n  topic_prefix: {prefix}\nbuffer:\n  path: /data/puffer\n  hours: {buffer}\ndevices:\n"
    return head + "".join(f"  - name: {name}\n    unit: {unit}\n    register: {register}\n    type: {kind}\n    every_s: {every}\n    show_as: {show}\n" for name, unit, register, kind, every, show in devices)


def scan(d, units, facts):
    return weave([f"unit {n:3d}  {d.pick(['timeout', 'timeout', 'timeout', 'illegal function', 'timeout'])}  {d.number(180, 420)} ms" for n in units], *facts, at=0.5)


def journal(d, count, facts=(), at=0.6):
    return weave(d.log(count, "2026-06-15T14:16:00", (200, 4000), [
        "gw[<200-999>]: poll <kompressor|ofen|waage|zaehler> ok <4-60> ms",
        "gw[<200-999>]: mqtt puback id=<100-9999> <3-40> ms",
        "kernel: rs485 ttyS<1-2>: <overrun|parity|frame> count=<0-9>",
        "systemd[1]: <Started|Finished> <logrotate|apt-daily|fstrim|man-db>.service",
        "gw[<200-999>]: buffer depth=<0-40> oldest=<0-9>s",
    ], "%b %d %H:%M:%S gw-halle2"), *facts, at=at)


def build() -> Scene:
    s = Scene(
        "config-edge-gateway", "configuration",
        "A technician, writing a mix of German and English, has a Modbus-to-MQTT gateway configured one device at a time. Units, topics and intervals are "
        "corrected, one device is dismantled again, and restarts are allowed only in a short window.",
        call_prefix="chatcmpl-tool-",
    )
    d = s.dice
    mqtt = s.secret("unEcht", "0000", "Mqtt", "2209kk")
    s.system("You configure industrial gateways through tools: ssh, read_config, write_config, modbus_scan, mqtt_probe. Confirm each change in one or two sentences. The user may mix languages; answer in English unless asked.")
    s.user("Moin. Gateway gw-halle2 muss fertig werden. Grundregeln, gelten immer: nur lesen auf Modbus, niemals Register schreiben. Kein Neustart während der Frühschicht (06:00 bis 14:00), only in the window 14:15 to 14:30. Druck in bar, Temperatur in °C, nothing in psi or Fahrenheit. Broker is mqtt.leitstand.example.org port 1883, topic prefix werk/halle2. First device: kompressor_1, unit 11, register 40021.")
    s.do("Looking at the box and at unit 11.",
         ("ssh", {"host": "gw-halle2", "command": "uname -a; df -h; systemctl status gw --no-pager | head -20"}, "Linux gw-halle2 6.6.51-rt armv7l\n" + d.table(["Filesystem", "Size", "Used", "Avail", "Use%", "Mounted on"], 7, ["/dev/mmcblk<0-1>p<1-8>", "<1-9>.<0-9>G", "<0-3>.<0-9>G", "<1-5>.<0-9>G", "<10-70>%", "/<mnt|run|boot|srv>/<#3>"], [["/dev/sda1", "29G", "0.1G", "28G", "1%", "/data"]]) + "\ngw.service - Modbus gateway\n   Active: inactive (dead)"),
         ("modbus_scan", {"line": "ttyS1", "from": 1, "to": 24}, scan(d, range(1, 20), ["unit  11  ok  holding 40021 = 71 (raw), device says: screw compressor", "unit  14  ok  holding 40001 = 2217 (raw), device says: kiln controller"])))
    s.do("", ("write_config", {"host": "gw-halle2", "path": "/etc/gw/gateway.yaml", "content": yaml("werk/halle2", 1883, 2, 24, [("kompressor_1", 11, 40021, "uint16 x0.1", 5, "bar")])}, "written, not active until restart"))
    s.say("kompressor_1 is in /etc/gw/gateway.yaml: unit 11, register 40021, every 5 s, shown in bar. QoS 2 and a buffer of 24 h on /data/puffer are my defaults. Nothing was restarted.")
    s.user("Passt. Next: ofen_a, unit 14, alle 10 s. Und luefter_4 auf unit 16. Ach ja, plain 1883 geht nicht mehr, IT hat das zugemacht: port 8883 mit TLS. User gateway, Kennwort folgt.")
    s.do("",
         ("mqtt_probe", {"host": "mqtt.leitstand.example.org", "port": 8883, "tls": True}, "connected, TLSv1.3, certificate CN=mqtt.leitstand.example.org, not after 2026-12-03, CONNACK 5 (not authorized)"),
         ("modbus_scan", {"line": "ttyS1", "from": 14, "to": 20}, scan(d, (15, 17, 18, 20), ["unit  16  ok  holding 40003 = 1180 (raw), device says: fan drive", "unit  19  ok  holding 40010 = 0 (raw), device says: conveyor"])))
    s.say("TLS on 8883 works, login is missing. One thing to keep in mind: the broker's certificate runs out on 2026-12-03, somebody has to renew it before.")
    s.user(f"Zertifikat macht der Leitstand-Admin, aber erinner mich im November daran, sonst vergisst das jeder. Login: user gateway password={mqtt}")
    s.do("",
         ("mqtt_probe", {"host": "mqtt.leitstand.example.org", "port": 8883, "tls": True, "user": "gateway", "password": mqtt, "qos": 2}, "CONNACK 0\nPUBLISH qos=2 id=1 -> PUBREC after 30.0 s (timeout), retried 4 times\nbroker: legacy bridge to leitstand, inflight limit 1 for QoS 2"),
         ("write_config", {"host": "gw-halle2", "path": "/etc/gw/secrets.yaml", "content": f"mqtt:\n  user: gateway\n  password: {mqtt}\n"}, "written, mode 0600"))
    s.say("Login works. But QoS 2 stalls: the bridge to the control room passes only one such message at a time and we wait 30 s each. I suggest QoS 1; a value may then arrive twice, which does no harm since every value has a time.")
    s.user("QoS 1, einverstanden. Prefix hat sich auch geändert: werk-nord/halle2. Dritte Station: waage_3, unit 21, float32, aber Wörter vertauscht.")
    s.do("", ("modbus_scan", {"line": "ttyS2", "unit": 21, "registers": "40101-40110"}, columns([["register", "hex", "as ABCD", "as CDAB"], ["40101", "0x0000 0x42c8", "2.4e-41", "100.0"], ["40103", "0x999a 0x4119", "-1.6e-23", "9.6"], ["40105", "0x0000 0x0000", "0.0", "0.0"], ["40107", "0x3333 0x4013", "4.2e-8", "2.3"]])))
    s.do("", ("write_config", {"host": "gw-halle2", "path": "/etc/gw/gateway.yaml", "content": yaml("werk-nord/halle2", 8883, 1, 24, [("kompressor_1", 11, 40021, "uint16 x0.1", 5, "bar"), ("ofen_a", 14, 40001, "int16 x0.1", 10, "°C"), ("luefter_4", 16, 40003, "uint16", 10, "1/min"), ("waage_3", 21, 40101, "float32 CDAB", 5, "kg")])}, "written, not active until restart"))
    s.say("waage_3 reads 100.0 kg with the word order CDAB, register 40101. Four devices are in the file, QoS is 1, prefix werk-nord/halle2.")
    s.user("luefter_4 wieder raus, der wurde gestern demontiert. Und prefix nochmal, sorry, IT will es kürzer: werk-nord/h2. Das ist jetzt endgültig. foerderband_2 dazu, unit 17.")
    s.do("", ("modbus_scan", {"line": "ttyS1", "unit": 17, "registers": "40010-40012"}, "unit 17: timeout (3 tries)\nhint: unit 19 answers as conveyor"))
    s.say("Unit 17 does not answer; unit 19 says it is a conveyor.")
    s.user("Stimmt, foerderband_2 ist unit 19, 17 war die alte Halle. ofen_a bitte schneller: 3 s statt 10, die Prozesstechnik braucht die Flanke. Puffer auf 72 h, wir hatten schon ein ganzes Wochenende ohne Netz.")
    s.do("", ("write_config", {"host": "gw-halle2", "path": "/etc/gw/gateway.yaml", "content": yaml("werk-nord/h2", 8883, 1, 72, [("kompressor_1", 11, 40021, "uint16 x0.1", 5, "bar"), ("ofen_a", 14, 40001, "int16 x0.1", 3, "°C"), ("waage_3", 21, 40101, "float32 CDAB", 5, "kg"), ("foerderband_2", 19, 40010, "uint16", 5, "m/min")])}, "written, not active until restart"))
    s.say("Done: luefter_4 is out, foerderband_2 is unit 19, ofen_a every 3 s, buffer 72 h because of the weekend without a network. I also owe you the list of measuring points: docs/messstellen.md, I write it when all devices are in.")
    s.user("Gut. Alarmgrenze für ofen_a: 240 °C hätte ich gesagt, aber die Instandhaltung muss das freigeben. Solange kein Alarm auf den Ofen! Frage ist gestellt.")
    s.say("No alarm on the kiln until maintenance has approved a limit.")
    # Newer half: restart, watching, one more meter, dashboards.
    s.user("14:16, Fenster ist offen. Neustart bitte.")
    s.do("", ("ssh", {"host": "gw-halle2", "command": "gw check && systemctl restart gw && sleep 20 && journalctl -u gw -n 60 --no-pager"}, journal(d, 80, ["Jun 15 14:16:31 gw-halle2 gw[611]: config ok, 4 devices", "Jun 15 14:16:33 gw-halle2 gw[611]: mqtt connected"], 0.2)))
    s.do("", ("mqtt_probe", {"subscribe": "+/+/#", "seconds": 20}, "\n".join(d.log(40, "2026-06-15T14:17:02", (100, 900), ["<presse|saege|tor|lager>/<ist|soll|status> <1-900>.<0-9>", "heizung/<vorlauf|ruecklauf> <30-70>.<0-9> C", "<presse|saege>/zaehler <100000-999999>"], "%H:%M:%S"))))
    s.say("Restarted inside the window, all four devices deliver.")
    s.user("Schön. Stromzähler noch: zaehler_haupt, unit 30, einmal pro Minute reicht.")
    s.do("", ("modbus_scan", {"line": "ttyS2", "unit": 30, "registers": "40200-40260"}, columns([["register", "raw", "guess"], *[[str(40200 + 2 * n), d.fill("0x<#4> 0x<#4>"), d.fill("<voltage L1|voltage L2|current L1|power factor|frequency|reserved|tariff> <0-400>.<0-9>")] for n in range(14)], ["40230", "0x0012 0x9f1c", "energy import 1220.4 MWh"], *[[str(40232 + 2 * n), d.fill("0x<#4> 0x<#4>"), "reserved"] for n in range(12)]])))
    s.do("", ("ssh", {"host": "gw-halle2", "command": "gw device add zaehler_haupt --unit 30 --register 40230 --type uint32 --every 60 --show-as kWh --no-restart"}, "added to /etc/gw/gateway.yaml, active after the next restart"))
    s.say("zaehler_haupt is added with register 40230, once a minute. It becomes active with the next restart, tomorrow's window.")
    s.user("Ok. Es ruckelt auf ttyS1, schau mal rein.")
    s.do("", ("ssh", {"host": "gw-halle2", "command": "journalctl -k --since -1h --no-pager | grep -i rs485"}, journal(d, 70, ["Jun 15 15:02:44 gw-halle2 kernel: rs485 ttyS1: parity errors 1,911 in 10 min", "Jun 15 15:02:44 gw-halle2 kernel: rs485 ttyS1: termination resistor reported off"], 0.5)))
    s.do("", ("ssh", {"host": "gw-halle2", "command": "gw line ttyS1 --show"}, "baud 19200, 8E1, termination off, bias on, turnaround 4 ms"))
    s.say("1,911 parity errors in ten minutes on ttyS1, and the termination resistor is off. It can be switched on in software: `gw line ttyS1 --termination on`, which needs a restart of the line driver.")
    s.user("Also auch morgen. Leg es bereit, aber nicht ausführen. Jetzt das Dashboard.")
    s.do("", ("ssh", {"host": "gw-halle2", "command": "cat > /etc/gw/pending.d/10-termination.sh"}, "ok"))
    s.do("", ("ssh", {"host": "gw-halle2", "command": "gw dashboard export --json | head -120"}, "{\n" + "\n".join(d.lines(90, ["  \"panel_<1-40>\": {\"kind\": \"<line|gauge|table>\", \"span_h\": <1-72>, \"decimals\": <0-3>},", "  \"axis_<1-40>\": {\"min\": <0-10>, \"max\": <50-400>},"])) + "\n}"))
    s.do("", ("write_config", {"host": "gw-halle2", "path": "/etc/gw/dashboard.json", "content": "{\"title\": \"Halle 2\", \"panels\": 9, \"refresh_s\": 5}"}, "written"))
    s.say("Dashboard has nine panels and refreshes every 5 s.")
    s.user("Sieht gut aus. Wie voll ist der Speicher?")
    s.do("", ("ssh", {"host": "gw-halle2", "command": "gw buffer stat; iostat -x 1 5"}, "depth 0, 41 MB used of 28 GB\n" + d.table(["Device", "r/s", "w/s", "rkB/s", "wkB/s", "await", "util"], 30, ["<sda|mmcblk0|mmcblk1>", "<0-9>.<10-99>", "<0-30>.<10-99>", "<0-90>.<0-9>", "<0-300>.<0-9>", "<0-9>.<10-99>", "<0-12>.<0-9>"])))
    s.say("The buffer is empty and 28 GB are free; the load is small.")
    s.user("Und die Uhr? Letztes Mal lief sie vor.")
    s.do("", ("ssh", {"host": "gw-halle2", "command": "chronyc sources -v; chronyc tracking"}, columns([["MS", "Name", "Stratum", "Poll", "Reach", "LastRx", "Last sample"], *[[d.pick(["^*", "^+", "^-"]), d.fill("ntp<1-9>.example.org"), d.fill("<1-3>"), d.fill("<6-10>"), "377", d.fill("<10-900>"), d.fill("+<1-900>us")] for _ in range(8)]]) + "\nSystem time : 0.000041 seconds slow of NTP time"))
    s.say("The clock is off by 41 microseconds, fine.")
    s.user("Super. Feierabend für heute, morgen 14:15 geht's weiter.")

    s.bank_description = "Rules of the floor, the settings that hold after several corrections, the device list without the one that was dismantled, and what waits for the next window or for other people."
    s.ask("recall-window", "recall", "When may the gateway be restarted, and when not?", [("14:15 to 14:30", "14:15-14:30", "14:15 bis 14:30", "14:15–14:30"), ("06:00 bis 14:00", "06:00 to 14:00", "06:00-14:00", "Frühschicht")])
    s.ask("recall-broker", "recall", "On which port and with which protection is the broker reached?", [("port 8883", "8883", "Port: 8883"), ("mit TLS", "tls: true", "TLS on 8883", "with TLS")], [("port 1883", "broker port 1883", "Port: 1883")])
    s.ask("recall-prefix", "recall", "Which topic prefix holds now?", ["werk-nord/h2"], ["werk/halle2", "werk-nord/halle2"])
    s.ask("recall-conveyor", "recall", "Which Modbus unit is the conveyor, and how often is the kiln read?", [("foerderband_2 ist unit 19", "unit 19", "unit: 19"), ("3 s statt 10", "every 3 s", "every_s: 3", "alle 3 s")], [("foerderband_2 dazu, unit 17", "foerderband_2 is unit 17", "foerderband_2: unit 17"), ("alle 10 s", "every 10 s", "kiln every 10 s")])
    s.ask("recall-scale", "recall", "With which word order and from which register is the scale read?", ["CDAB", "40101"])
    s.ask("artifact-devices", "artifact", "Which devices are in the configuration now?", ["kompressor_1", "ofen_a", "waage_3", "foerderband_2", "zaehler_haupt"], [("luefter_4 auf unit 16", "name: luefter_4", "luefter_4 is configured")])
    s.ask("artifact-files", "artifact", "Which file holds the configuration, and where does the buffer lie and how many hours does it keep?", ["/etc/gw/gateway.yaml", "/data/puffer", ("72 h", "hours: 72", "72 hours", "72 Stunden")], [("a buffer of 24 h", "hours: 24", "buffer of 24 hours")])
    s.ask("decision-qos", "decision", "Which quality of service is used and why not the higher one?", [("QoS 1", "qos: 1", "QoS=1"), ("only one such message at a time", "inflight limit 1", "one message at a time", "QoS 2 stalls")], [("qos: 2", "QoS 2 is used", "QoS 2 and a buffer")])
    s.ask("decision-units", "decision", "Which rules hold for access to the devices and for units of measurement?", [("niemals Register schreiben", "nur lesen auf Modbus", "never write registers", "read only", "read-only"), ("Druck in bar", "pressure in bar", "show_as: bar"), ("Temperatur in °C", "temperature in °C", "show_as: °C", "Celsius")])
    s.ask("continuation-alarm", "continuation", "Why has the kiln no alarm yet, and whose word is awaited?", [("Instandhaltung", "maintenance", "approval by maintenance"), ("240 °C", "240°C", "240 degrees")])
    s.ask("continuation-certificate", "continuation", "What runs out, on which day, and when is the user to be reminded?", ["2026-12-03", ("im November", "in November", "November")])
    s.ask("continuation-owed", "continuation", "Which document does the assistant still owe, and which change is prepared but not carried out?", ["docs/messstellen.md", ("termination", "10-termination.sh", "termination resistor")])
    return s
