"""A sensor node resets every few hours; serial logs, a debugger and one counter that is too narrow."""

from noise import numbered
from noise import weave
from scene import Scene

SERIAL = [
    "[<0-4>] lora: <tx|rx> len=<12-51> rssi=-<60-118> snr=<0-9>",
    "[<0-4>] sensor: t=<14-27>.<10-99>C rh=<30-70>.<0-9>% p=<980-1030>.<0-9>hPa",
    "[<0-4>] power: vbat=<3600-4100>mV i=<2-38>mA",
    "[<0-4>] log: page=<100-900> free=<1000-9000>",
    "[<0-4>] sched: idle=<71-98>% tasks=7 heap=<8000-14000>",
    "[<0-4>] wdg: kick by sched",
]

TIMER = """
#include "tx_timer.h"
#include "board/rtc.h"

/* One tick is 250 ms; see board/rtc.h. */
#define TICKS_PER_SECOND 4u

static uint32_t deadline;
static bool armed;

void tx_timer_arm(uint32_t seconds)
{
    deadline = rtc_ticks() + seconds * TICKS_PER_SECOND;
    armed = true;
}

bool tx_timer_due(void)
{
    uint16_t now = rtc_ticks();
    return armed && now >= deadline;
}

void tx_timer_wait(void)
{
    while (!tx_timer_due()) {
        power_sleep_until_tick();
    }
    armed = false;
}
"""


def build_log(d, count, facts=(), at=0.8):
    return weave(d.lines(count, [
        "[<+7>/212] Building C object <app|drivers|lib>/CMakeFiles/<core|lora|sensor|flash|hal>.dir/<main|init|queue|crc|spi|adc|irq>.c.obj",
        "[<+2>/212] Linking C static library lib<hal|crypto|rtos|cbor>.a",
        "<drivers|lib>/<spi|adc|cbor|crc>.c:<20-400>:<3-40>: note: <expanded from macro|declared here|in instantiation of> '<REG_SET|ARRAY_LEN|BIT|UNUSED>'",
    ]), *facts, at=at)


def build() -> Scene:
    s = Scene(
        "debug-firmware-watchdog", "debugging",
        "A battery-powered sensor node is reset by its watchdog about every four and a half hours. A stack overflow found on the way is fixed, the real "
        "cause is a clock read into 16 bits, a timeout is raised and put back for a norm, and one unit must never be touched.",
        call_prefix="c-",
    )
    d = s.dice
    wifi = s.secret("no", "pe4471", "bench", "3301zzkk")
    s.system("You help with embedded firmware. Tools: shell, serial (capture of a serial port), flash (write an image to a unit), gdb, read, edit, capture database (traces). Mark guesses as guesses.")
    s.user("node firmware 2.3.0, cortex-m4, freertos. units in the field reset themselves every few hours. bench units are 3 and 4, use those. NEVER flash unit 7, it hangs at a customer's site. don't write below 0x08008000, that's the bootloader. console is /dev/ttyUSB0 at 115200.")
    s.do("Listening first.", ("serial", {"port": "/dev/ttyUSB0", "baud": 115200, "seconds": 20}, "error: /dev/ttyUSB0: no such device\navailable: /dev/ttyACM0 (debug probe), /dev/ttyACM1 (usb serial)"))
    s.say("That device does not exist; the machine has /dev/ttyACM0 and /dev/ttyACM1.")
    s.user("new adapter. /dev/ttyACM1, and I think it talks 230400 now")
    s.do("", ("serial", {"port": "/dev/ttyACM1", "baud": 230400, "seconds": 5}, "\\xf8\\x80\\xfe\\x00\\xf8\\xf8\\x80 (framing errors: 212)"))
    s.say("Only framing errors, the speed is wrong.")
    s.user("sorry, 460800. measured it with the scope")
    s.do("", ("serial", {"port": "/dev/ttyACM1", "baud": 460800, "seconds": 40}, weave(d.log(34, "2026-02-03T07:10:00", (400, 1600), SERIAL, "%H:%M:%S"), "[0] boot: reset cause: IWDG (independent watchdog), uptime before reset 16384 s", "[0] boot: brown-out flag clear, pin reset clear", at=0.4)))
    s.say("Clean now. It says: reset by the independent watchdog, uptime before the reset 16384 s, brown-out flag clear. So it is not the supply.")
    s.user("I was sure it's brown-out. fine. which board rev does it report? should be rev C")
    s.do("", ("gdb", {"unit": 4, "commands": ["p board_id()", "info threads", "bt"]}, "$1 = {rev = 'B', batch = 2, xtal_ppm = 20}\n" + weave(d.lines(14, ["  <2-7>  Thread <200-299> (<idle|lora|sensor|log|power|cli>) 0x0801<#4> in vTaskDelay ()", "#<3-9>  0x0801<#4> in <prvIdleTask|xQueueReceive|lora_poll|log_flush> ()"]), "#0  HardFault_Handler () at board/fault.c:31", "#1  <signal handler called>", "#2  0x08012f3c in sensor_task (arg=0x0) at app/sensor.c:88  stack 508 of 512 words used", at=0.3)))
    s.say("The board is rev B, batch 2, not C. And there is a HardFault at 0x08012f3c in sensor_task: 508 of 512 stack words used. Guess: that may be a second problem beside the watchdog.")
    s.user(f"ok rev B then. give sensor_task 1024 words and see if the resets stop. bench wifi if the soak tool asks: ssid bench password={wifi}")
    s.do("",
         ("edit", {"path": "app/sensor.c", "old": "#define SENSOR_STACK 512", "new": "#define SENSOR_STACK 1024"}, "ok"),
         ("shell", {"cmd": "cmake --build build -j4 2>&1"}, build_log(d, 24, ["[212/212] image.bin 181,204 bytes, crc 7be1"], 0.99)),
         ("flash", {"unit": 4, "image": "build/image.bin", "at": "0x08008000"}, "unit 4: erased 45 pages, wrote 181204 bytes, verified"))
    s.do("Leaving it for five hours.", ("serial", {"port": "/dev/ttyACM1", "baud": 460800, "seconds": 18000, "filter": "boot|fault|wdg: late"}, "07:41:02 [0] boot: reset cause: power on\n12:14:07 [1] wdg: late kick, 7.9 s\n12:14:07 [0] boot: reset cause: IWDG (independent watchdog), uptime before reset 16384 s"))
    s.say("The HardFault is gone, so the stack was a bug of its own and is fixed. The watchdog reset stays: 16384 s again, to the second.")
    s.user("16384 = 2^14. somebody overflows. meanwhile raise the watchdog timeout from 8 s to 12 s so the field units limp along")
    s.do("",
         ("edit", {"path": "board/wdg.c", "old": "#define WDG_TIMEOUT_MS 8000", "new": "#define WDG_TIMEOUT_MS 12000"}, "ok"),
         ("shell", {"cmd": "grep -rnE 'uint16_t|int16_t' drivers app --include=*.c | grep -iE 'tick|time|now|next'"},
          weave(d.lines(20, ["<drivers|app>/<spi|adc|flash|cli|power>/<queue|poll|frame|crc>.c:<10-300>:    uint16_t <next_page|time_div|frame_time|tick_div|next_crc>;"]), "drivers/lora/tx_timer.c:18:    uint16_t now = rtc_ticks();")))
    s.do("One candidate.", ("read", {"path": "drivers/lora/tx_timer.c"}, numbered(TIMER)))
    s.say("That is it: drivers/lora/tx_timer.c reads the clock into 16 bits (uint16_t now), while the deadline has 32. A tick is 250 ms, so after 65536 ticks = 16384 s = 4 h 33 min the deadline can never be reached, and tx_timer_wait sleeps until the watchdog bites. drivers/lora/rx_timer.c has the same shape but 32 bits throughout and is right.")
    s.user("beautiful. leave rx_timer.c alone, it's certified as is. and take the 12 s back: the compliance engineer says the norm allows at most 10 s, so 8 s stays")
    s.do("",
         ("edit", {"path": "board/wdg.c", "old": "#define WDG_TIMEOUT_MS 12000", "new": "#define WDG_TIMEOUT_MS 8000"}, "ok"),
         ("edit", {"path": "drivers/lora/tx_timer.c", "old": "    uint16_t now = rtc_ticks();\n    return armed && now >= deadline;", "new": "    return armed && (int32_t)(rtc_ticks() - deadline) >= 0;"}, "ok"))
    s.say("The watchdog is back at 8 s. The clock is read with all its 32 bits now, and the comparison is a signed difference, so it also survives the wrap after 34 years instead of only moving it. I put a TRACE_WDG define into board/wdg.c to time the kicks and will take it out before the release.")
    s.user("do. release will be 2.3.1, and it needs a 72 hour soak on units 3 and 4 before it goes anywhere. also: nobody knows if rev A boards have the same crystal. asked the supplier, no answer. so no 2.3.1 for rev A until they answer")
    s.say("Understood: 72 h soak on both bench units before 2.3.1, nothing for rev A until the supplier answers about the crystal.")
    # Newer half.
    s.user("write a test that would have caught it")
    s.do("", ("shell", {"cmd": "ls tests && sed -n 1,40p tests/test_queue.c"}, "CMakeLists.txt\nfake_rtc.c\nfake_rtc.h\ntest_cbor.c\ntest_crc.c\ntest_queue.c\n\n#include \"unity.h\"\n#include \"fake_rtc.h\"\n\nvoid setUp(void) { fake_rtc_set(0); }\nvoid tearDown(void) {}\n"))
    s.do("", ("edit", {"path": "tests/test_tx_wrap.c", "old": "", "new": "#include \"unity.h\"\n#include \"fake_rtc.h\"\n\nvoid test_due_after_16_bit_wrap(void)\n{\n    fake_rtc_set(65530);\n    tx_arm(10);\n    fake_rtc_advance(39);\n    TEST_ASSERT_FALSE(tx_due());\n    fake_rtc_advance(1);\n    TEST_ASSERT_TRUE(tx_due());\n}\n\nvoid test_due_after_32_bit_wrap(void)\n{\n    fake_rtc_set(UINT32_MAX - 3);\n    tx_arm(2);\n    fake_rtc_advance(8);\n    TEST_ASSERT_TRUE(tx_due());\n}\n"}, "created"))
    s.do("", ("shell", {"cmd": "cmake --build build-host && ctest --test-dir build-host --output-on-failure"}, build_log(d, 30, ["tests/test_tx_wrap.c:7:5: warning: implicit declaration of function 'tx_arm'", "ld: undefined reference to `tx_arm'"], 0.9)))
    s.do("Names.", ("shell", {"cmd": "sed -i 's/tx_arm/tx_timer_arm/; s/tx_due/tx_timer_due/' tests/test_tx_wrap.c && cmake --build build-host && ctest --test-dir build-host"}, build_log(d, 12, [], 0.9) + "\n1/4 Test #1: cbor ........ Passed 0.02 sec\n2/4 Test #2: crc ......... Passed 0.01 sec\n3/4 Test #3: queue ....... Passed 0.02 sec\n4/4 Test #4: tx_wrap ..... Passed 0.01 sec\n100% tests passed"))
    s.do("And against the old code, to be sure.", ("shell", {"cmd": "git stash push -q drivers && cmake --build build-host && ctest --test-dir build-host -R tx_wrap; git stash pop -q"}, "4/4 Test #4: tx_wrap .....***Failed 0.01 sec\ntest_due_after_16_bit_wrap:FAIL: Expected TRUE Was FALSE\n0% tests passed, 1 tests failed out of 1"))
    s.say("tests/test_tx_wrap.c fails on the old code and passes on the new one.")
    s.user("good. flash both bench units and start the soak")
    for unit in (3, 4):
        s.do("", ("flash", {"unit": unit, "image": "build/image.bin", "at": "0x08008000"}, f"unit {unit}: erased 45 pages, wrote 181296 bytes, verified"))
    s.do("", ("shell", {"cmd": "soak start --units 3,4 --hours 72 --wifi bench"}, "soak: joined wifi 'bench'\nsoak: run S-118 started 2026-02-03T15:02Z, ends 2026-02-06T15:02Z"))
    s.say("Soak run S-118 is on, it ends on 2026-02-06 at 15:02 UTC.")
    s.user("have a look at it now and then")
    for hour, lines in ((2, 46), (5, 60), (9, 60), (14, 70)):
        s.do("", ("serial", {"run": "S-118", "at_hour": hour, "lines": lines}, weave(d.log(lines, f"2026-02-03T{(15 + hour) % 24:02d}:02:00", (500, 2500), SERIAL, "%H:%M:%S"), *(["[2] log: E_LOG_SECTOR 0x1f, wear 98214, page moved"] if hour >= 9 else [f"[0] soak: hour {hour}, resets 0"]), at=0.5)))
    s.say("Fourteen hours in: past three wraps without a reset. But there is something new since hour 9: E_LOG_SECTOR 0x1f with a wear count of 98214 on unit 3. Guess: one flash sector takes all log headers.")
    s.user("how bad?")
    s.do("", ("shell", {"cmd": "python3 tools/wear.py --unit 3"}, "\n".join(f"sector 0x{n:02x} wear {d.number(90, 2400) if n != 31 else 98214}" for n in range(0, 64))))
    s.do("", ("read", {"path": "drivers/flash/log_header.c"}, numbered("#include \"log.h\"\n\n/* Header pages rotate inside one sector. */\n#define HEADER_SECTOR 0x1fu\n#define HEADER_PAGES 8u\n\n" + "\n\n".join(f"static uint32_t header_{name}(const struct header *h)\n{{\n    return h->{name} ^ h->crc;\n}}" for name in ("sequence", "first", "last", "count")))))
    s.say("All headers go to sector 0x1f: 98214 of 100000 rated cycles. On a field unit that is roughly four more weeks. It has nothing to do with the resets.")
    s.user("ugh. separate fix, separate branch, not in this release. open a ticket and continue watching the soak")
    s.do("", ("ticket", {"op": "create", "title": "log header wears out one flash sector", "labels": ["flash", "field"]}, "created FW-611"))

    s.bank_description = "Ports and limits after their corrections, the cause and why the fix is built as it is, what must not be touched, and what stands between now and the release."
    s.ask("recall-console", "recall", "On which device and at which speed does the console of the bench units answer?", ["/dev/ttyACM1", ("460800", "460,800", "460 800", "460.8 kbaud")], ["/dev/ttyUSB0", ("at 115200", "115200 baud", "115,200"), ("230400", "230,400", "230 400")])
    s.ask("recall-cause", "recall", "What made the units reset, and after what time exactly?", [("16384 s", "16,384 s", "16384 seconds", "4 h 33 min"), ("clock into 16 bits", "uint16_t now", "16-bit clock", "16-bit tick", "16 bits")], [("I was sure it's brown-out", "caused by brown-out", "resets come from brown-out")])
    s.ask("recall-board", "recall", "Which board revision and batch are on the bench?", [("rev B", "revision B", "rev = 'B'"), ("batch 2", "batch = 2", "second batch")], [("should be rev C", "revision C", "board is rev C")])
    s.ask("recall-forbidden", "recall", "Which unit and which memory must never be written, and which units may be used?", [("NEVER flash unit 7", "unit 7", "not unit 7"), "0x08008000", ("units are 3 and 4", "units 3 and 4", "unit 3 and unit 4")])
    s.ask("artifact-fix", "artifact", "Which file was repaired, and which file that looks alike must stay as it is?", ["drivers/lora/tx_timer.c", "drivers/lora/rx_timer.c"])
    s.ask("artifact-other-fix", "artifact", "Which other bug was found and fixed on the way, where, and how?", ["app/sensor.c", ("1024 words", "1,024 words", "SENSOR_STACK 1024"), ("HardFault", "hard fault", "hardware fault")])
    s.ask("artifact-test", "artifact", "Which test was written, and under which name does the long run go?", ["tests/test_tx_wrap.c", "S-118"])
    s.ask("decision-watchdog", "decision", "What is the watchdog's timeout now, and why was the other value taken back?", [("8 s stays", "back at 8 s", "WDG_TIMEOUT_MS 8000", "8 seconds"), ("at most 10 s", "maximum of 10 s", "no more than 10 s", "10 s maximum")], [("from 8 s to 12 s", "timeout is 12 s", "WDG_TIMEOUT_MS 12000")])
    s.ask("decision-compare", "decision", "The clock is not only read with more bits: how does the repaired timer compare now, and what does that gain?", [("signed difference", "difference as a signed", "(int32_t)(rtc_ticks() - deadline)"), ("survives the wrap", "survive the wrap", "wrap-safe", "safe over the wrap")])
    s.ask("continuation-release", "continuation", "What must be done before version 2.3.1 may go out?", [("72 hour soak", "72 h soak", "72-hour soak", "soak of 72 hours"), ("TRACE_WDG", "trace define", "the tracing define")])
    s.ask("continuation-rev-a", "continuation", "Which boards may not get the release yet, and what is it waiting for?", [("rev A", "revision A", "rev. A"), ("asked the supplier", "supplier answers", "answer of the supplier", "supplier's answer"), ("same crystal", "about the crystal", "which crystal")])
    s.ask("continuation-new-fault", "continuation", "Which other fault showed up during the long run, and what was decided about it?", ["E_LOG_SECTOR", "FW-611", ("separate branch", "own branch", "not in this release")], [("HardFault at 0x08012f3c", "hard fault in sensor_task", "stack overflow in sensor_task is open")])
    return s
