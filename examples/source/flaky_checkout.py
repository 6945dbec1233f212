"""The story of flaky-checkout.jsonl: a day with a shop's checkout service."""

from __future__ import annotations

import shop_outputs as out
from claude_code import Session, Think, bash, edit, grep, read, todo
from common import load_bundle
from pytest_log import run

PYTEST = ".venv/bin/python -m pytest -v"
STAGING = "set -a; . deploy/staging.env; set +a; "
PLAN = ["Find out why the retry tests charge twice|Tracing the double charge",
        "Fix the race for the last item|Fixing the stock race",
        "Run the suite against the staging database|Running the suite on staging",
        "Keep payment events that come before the order|Keeping early payment events",
        "Check the rounding on the invoice|Checking the rounding",
        "Build the image and soak the tests 20 times|Building and soaking"]


def plan(states: str):
    return todo(*(f"{state} {item}" for state, item in zip(states, PLAN)))


def tests(seconds, select="", command=None, **options):
    """A passing run, selected by name."""
    return bash(command or (f"{PYTEST} -k {select}" if select else "make test"),
                f"Run the {select} tests" if select else "Run the whole suite", lambda f: run(f, seconds, select, **options),
                seconds=seconds + 0.6, timeout=300000 if seconds > 100 else None)


CROSSED = '''

def test_concurrent_crossed_carts(service, stock):
    """Two SKUs in opposite order must not block each other."""
    stock(mug=20, lamp=20)
    carts = [cart(f"a{n}", "mug", "lamp") for n in range(4)]
    carts += [cart(f"b{n}", "lamp", "mug") for n in range(4)]
    with ThreadPoolExecutor(max_workers=len(carts)) as threads:
        orders = list(threads.map(lambda one: service.place_order(one, "tok_test"), carts))
    assert len(orders) == 8
    assert service.inventory.available("lamp") == 12


def test_cancel_refunds_once('''

OLD_KEY = '''def derive_key(cart: Cart, amount: Money, now: float | None = None) -> str:
    """A key that is stable for retries of the same purchase.

    The time window keeps a customer who buys the same cart twice on purpose
    from being answered with the first charge.
    """
    moment = time.time() if now is None else now
    bucket = int(moment // WINDOW_SECONDS)
    material = "|".join(
        (cart.customer_id, cart.id, str(amount.cents), amount.currency, str(bucket))
    )
'''
NEW_KEY = '''def derive_key(cart: Cart, amount: Money) -> str:
    """A key that is stable for retries of the same purchase.

    The revision of the cart grows with every purchase, so buying the same
    cart again on purpose gets a new key (SHOP-1162) without looking at a clock.
    """
    material = "|".join(
        (cart.customer_id, cart.id, str(cart.revision), str(amount.cents), amount.currency)
    )
'''
LOCK = '''    def _lock(self, conn: Connection, sku: str) -> int:
        """Available units; the row stays locked until the transaction ends."""
        row = conn.execute(
            "SELECT available FROM stock WHERE sku = %s FOR UPDATE", (sku,)
        ).fetchone()
        return 0 if row is None else row[0]

    def reserve('''
EARLY_TESTS = '''

def test_paid_event_before_order_is_kept(service, gateway, stock, webhooks):
    stock(mug=1)
    early = webhooks.handle(*signed("evt_7", "charge.succeeded", "ch_0001"))
    assert (early.status, early.detail) == (202, "kept")
    order = service.place_order(cart("c1", "mug"), "tok_test")
    assert service.order(order.id).state.value == "paid"


def test_early_event_twice_is_stored_once(pool, webhooks):
    for _ in range(2):
        webhooks.handle(*signed("evt_7", "charge.succeeded", "ch_0001"))
    with pool.connection() as conn:
        assert conn.execute("SELECT count(*) FROM webhook_inbox").fetchone()[0] == 1


def test_unknown_event_is_ignored('''
OLD_HANDLE = '''        with self._pool.connection() as conn, conn.transaction():
            if self._apply(conn, charge_id, state):
                return Outcome(200, "applied")
        log.warning("event %s: no order for charge %s", event["id"], charge_id)
        return Outcome(404, "unknown charge")
'''
NEW_HANDLE = '''        with self._pool.connection() as conn, conn.transaction():
            lock_charge(conn, charge_id)
            if self._apply(conn, charge_id, state):
                return Outcome(200, "applied")
            conn.execute(
                "INSERT INTO webhook_inbox (event_id, charge_id, event_type)"
                " VALUES (%s, %s, %s) ON CONFLICT (event_id) DO NOTHING",
                (event["id"], charge_id, event["type"]),
            )
        log.info("event %s kept: no order for charge %s yet", event["id"], charge_id)
        return Outcome(202, "kept")
'''
REPLAY = '''def lock_charge(conn: Connection, charge_id: str) -> None:
    """Let the event and the order of one charge wait for each other."""
    conn.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (charge_id,))


def replay(conn: Connection, charge_id: str) -> int:
    """Apply the events that came before the order; returns how many."""
    rows = conn.execute(
        "SELECT event_id, event_type FROM webhook_inbox"
        " WHERE charge_id = %s AND applied_at IS NULL ORDER BY received_at",
        (charge_id,),
    ).fetchall()
    for event_id, event_type in rows:
        conn.execute("UPDATE orders SET state = %s WHERE charge_id = %s",
                     (STATE_FOR_EVENT[event_type], charge_id))
        conn.execute("UPDATE webhook_inbox SET applied_at = now() WHERE event_id = %s",
                     (event_id,))
    return len(rows)


class WebhookHandler:'''
GATEWAY_NOTE = """

Из документации шлюза (раздел Events):

> Events are sent as soon as the charge changes its state. They are sent at least once, and the order of two events of the same charge is not guaranteed. Delivery does not wait for the answer to the request that caused the event.
>
> An event counts as delivered when your endpoint answers with any status from 200 to 299 within eight seconds. Every other answer, a closed connection and a timeout count as a failed delivery.
>
> Failed deliveries are repeated after 10 seconds, 1 minute, 5 minutes, 20 minutes and 60 minutes. After the fifth repetition the event is marked as undelivered. Undelivered events stay visible in the dashboard for 30 days and can be sent again by hand.
>
> A repeated delivery has the same `id` as the first one. Store the ids that you have processed, or make your handler idempotent in another way. The `created` field is the time of the state change, not of the delivery.
>
> The header `X-Signature` holds the hex HMAC-SHA256 of the raw body with your endpoint secret. Compute it before you parse the body, and compare in constant time."""

INVOICES = """

Their list for 10 August (net, tax as printed, tax as charged):

invoice;cart;sku;net;tax_printed;tax_charged;difference
R-2026-08114;cart_92e5;sticker-set;1.50;0.29;0.28;0.01
R-2026-08115;cart_8a04;lamp-oak;41.43;7.87;7.87;0.00
R-2026-08117;cart_7f21;mug-blue;19.99;3.80;3.80;0.00
R-2026-08118;cart_8b77;notebook-a5;3.50;0.67;0.66;0.01
R-2026-08121;cart_91c0;desk-mat;150.00;28.50;28.50;0.00
R-2026-08122;cart_95aa;postcards;5.50;1.05;1.04;0.01
R-2026-08124;cart_97d3;gift-card;25.00;4.75;4.75;0.00"""


def ci_log(files) -> str:
    """What the user pastes: the job log with a time stamp on every line."""
    lines = out.second_run(files, "ci").splitlines()
    head = ["Starting postgres:16 service container", "Applying migrations 0001 to 0007 ... ok", "make test"]
    tail = ["Error: Process completed with exit code 2.", "Uploading artifact test-report (41 kB)", "Job failed"]
    shown = head + lines[:6] + ["..."] + lines[lines.index("=" * 35 + " FAILURES " + "=" * 35):] + tail
    return "\n\n" + "\n".join(f"2026-08-10T22:{14 + n // 30:02d}:{n * 2 % 60:02d}Z {line}" for n, line in enumerate(shown))


REVIEW = """Before the image: Ilse looked over my shoulder and left three comments. Please answer them, change the code where she is right.

1. webhooks.py, lock_charge: hashtext() has only 32 bits. With 40,000 orders a day there will be two charges with the same hash sooner or later. What happens then? Do we apply an event to the wrong order?
2. service.py, _write_order: the lock is taken after the INSERT, the handler takes it before its UPDATE. Two different orders of locking in two places make me nervous, even if it happens to work. We had exactly this kind of problem in the reservation code this morning.
3. inventory.py, reserve: if a cart has 60 lines we now hold 60 row locks. The big company orders have up to 200 lines. Is that a problem for the other customers? The old code did not wait at all (and was wrong, I know). Can you say how long the locks are held, roughly?

And then I need a short text for the team, plain language, what went wrong and what we changed, no blame. I'll paste it into the wiki, so please no table, just paragraphs. Say clearly what is still open."""

POST_MORTEM = """Answers to Ilse's comments:

1. **Hash collisions.** The hash only decides who waits for whom. Which row is changed is decided by `charge_id` in the `WHERE` clause, and that is the full text. If two charges share a hash, one of them waits a few milliseconds for the other. No event can reach a wrong order. I left this as it is.
2. **Lock order.** She is right. It worked only because the new order row is not yet visible to the handler. I moved `lock_charge` to the first line of the transaction, so both places now take the lock first and touch `orders` second. The suite is green after the change.
3. **Many row locks.** The locks are held from the first `SELECT ... FOR UPDATE` to the commit of the reservation, three statements per line. On the local database one line takes about 0.4 ms, so 200 lines hold their locks for roughly 80 ms, and only carts with one of the same SKUs wait. The payment, which takes seconds, happens after the commit. I'd leave it, and measure it on staging if the company orders grow.

Text for the wiki:

> **What happened.** On 10 August two customers of the sandbox shop were charged twice, and for two weeks almost every second test run was red. Both had the same reason. A purchase carries a key, so that the payment gateway can recognise a repeated request. Since 28 July this key contained the current half minute, and since 5 August we repeat a request after five seconds if the answer was lost. In at least one case of six the repetition fell into the next half minute, carried a different key, and was booked as a second purchase.
>
> **What else we found.** When several customers wanted the last item at the same moment, more than one could get it, because the stock was read and written in two steps. Reservations were stored with a time without time zone and were two hours off on servers that run in Berlin time. Payment events that came before the order was written were refused, and after an hour the gateway stopped repeating them, so a paid order stayed pending. Tax amounts that end in exactly half a cent were rounded to the even cent, while accounting rounds up.
>
> **What we changed.** The key now contains the revision of the cart instead of the time, and it is made once per purchase. The stock rows are locked in the database while a reservation is written, always in the same order. Times carry their zone. Early payment events are kept in a table that already existed and are applied together with the order. Tax is rounded half up. The database schema, the routes and the methods used by the apps did not change.
>
> **Why the tests did not stop it.** They did: they were red. We took them for slow tests on a busy machine and started them again. A test that fails sometimes is a bug that happens sometimes.
>
> **What is still open.** The two customers have to be refunded. Early events that never find their order are kept for ever at the moment; we have to decide how long we want to keep them. And production still runs the old version."""

OLD_SHARE = '''        return Money(round(self.cents * rate), self.currency)'''
NEW_SHARE = '''        exact = Decimal(self.cents) * Decimal(str(rate))
        return Money(int(exact.quantize(Decimal(1), ROUND_HALF_UP)), self.currency)'''


def build() -> list[dict]:
    files = load_bundle("shop.txt")
    s = Session("flaky-checkout", "2026-08-11T07:04:12.410", "fix/flaky-checkout", files)

    # --- 1. the request -----------------------------------------------------------
    s.user("""The checkout tests are flaky: almost every second CI run is red, and yesterday two sandbox customers were really charged twice. Please find the causes and fix them properly, no retries around the tests and no skips.

Rules:
- never touch migrations/ (the platform team owns it)
- keep the public API: CheckoutService's methods and the HTTP routes stay exactly as they are, the mobile apps are already released
- no new dependencies

The suite runs with `make test`, it needs the local Postgres which is already up. This is the end of last night's red job:""" + ci_log(files), 0)
    s.say(Think("The user wants the root causes of flaky tests, not a workaround. So many red runs and a double charge in the sandbox suggest something that depends on time or on a race. I should first see the layout and the recent history, since the flakiness may have come with a change, then run the suite as it is.\n\nConstraints to hold on to: migrations/ is off limits, the public API of CheckoutService and the HTTP routes are frozen, no new dependencies, no test retries or skips."),
          "I'll look at the layout and the recent history first, then run the suite unchanged.",
          bash("find . -type f -not -path './.git/*' -not -path './.venv/*' | sort | xargs ls -l", "List the project files", out.listing),
          bash("git log -7", "Show recent commits", out.git_log))
    s.say(Think("Two commits stand out: \"Derive idempotency keys per 30 second window\" (28 July) and \"Retry a lost payment answer three times\" with a five second pause (5 August). Together: a retry five seconds later falls into the next 30 second window in 5/30 of all cases, a second retry in 10/30. If two tests depend on it, a run is green in 5/6 * 4/6 = 56 % of the cases. That would explain almost every second run. I still need evidence from a run."),
          "The commits of 28 July and 5 August look related: a key per 30 second window, and a retry after five seconds. Let me see the failures before I judge.",
          bash("make test", "Run the whole test suite", out.first_run, code=2, seconds=33.5),
          read("CLAUDE.md"))
    s.say("Two different failures: a double charge after a retry, and the last mug sold twice. I'll read the code on both paths.",
          read(out.SERVICE), read("checkout/idempotency.py"), read(out.PAYMENTS), read(out.INVENTORY))
    s.say(Think("Confirmed in the code: `charge_with_retry` calls `make_key()` again on every attempt, and `derive_key` mixes in `int(time // 30)`. Either one alone would be harmless; together the second attempt can get a new key and the gateway sees a new purchase.\n\nThe stock problem is separate: `reserve` reads `available`, then writes back `available - wanted`. Under READ COMMITTED two transactions read 1, both write 0, both succeed. Classic lost update."),
          "Both causes are visible in the code. I'll write the plan down and run the suite once more to see whether other tests fail too.",
          plan("> - - - - -".replace(" ", "")),
          bash("make test", "Run the suite a second time", out.second_run, code=2, seconds=38.1))
    s.say("This time only the other retry test failed, which fits the idea of the time window. I want to know who else builds or parses these keys before I change them.",
          grep(r"derive_key|is_key|make_key|idempotency"), grep(r"revision"), read("checkout/models.py"), read(out.TESTS), read("tests/conftest.py"))
    s.say(Think("`Cart.revision` already exists and is part of the request body of the mobile apps (api.py). What does SHOP-1162 need? Two intentional purchases of the same cart content must get two charges. If the revision grows with each purchase, the revision in the key gives that without a clock. I can't see the cart service, so ask or check api.py. The API passes `revision` through. I would rather ask than assume."),
          read("checkout/api.py"))
    s.say("""The double charge is understood:

1. `charge_with_retry` asks for a **new key on every attempt**.
2. `derive_key` puts a 30 second time window into the key. A retry comes five seconds later, so in 5 of 30 cases it falls into the next window, gets another key, and the gateway books a second charge.

I'd make the key depend on the cart revision instead of the clock. One question first: does the cart service raise `revision` after a completed purchase? If not, the gift card case of SHOP-1162 would come back.""", end=True)

    # --- 2. the answer; the first fix --------------------------------------------
    s.user("Yes, the cart service raises the revision after every completed purchase, since June. Go ahead with the revision.", 6)
    s.say(Think("Good, so the decision is: key = customer, cart, revision, amount, currency. And compute it once per purchase, before the retry loop. charge_with_retry is internal (not part of CheckoutService's public methods), so changing its parameter from a factory to a key is fine."),
          "Then the key gets the revision, and it is computed once, before the first attempt.",
          edit("checkout/idempotency.py", OLD_KEY, NEW_KEY),
          edit("checkout/idempotency.py", "import hashlib\nimport time\n", "import hashlib\n"),
          edit(out.PAYMENTS, "gateway: Gateway, make_key, amount: Money", "gateway: Gateway, key: str, amount: Money"))
    s.say(edit(out.PAYMENTS, "return gateway.charge(make_key(), amount, token, cart_id)", "return gateway.charge(key, amount, token, cart_id)"),
          edit(out.SERVICE, "            lambda: idempotency.derive_key(cart, total),\n", "            idempotency.derive_key(cart, total),\n"),
          edit("checkout/idempotency.py", "WINDOW_SECONDS = 30\n", ""))
    s.say(tests(15.38, "retry"), read("checkout/idempotency.py"))
    s.say("The retry tests pass. A single green run proves little here, so I repeat them twelve times; before the change about six of 24 should have failed.",
          tests(182.7, "retry", f"{PYTEST} -q --count 12 -k retry", count=12, quiet=True), plan("x>----"))
    s.say("24 of 24 pass, and the clock is gone from the key. Next is the stock race: `reserve` reads the stock and writes the difference back, so two buyers can both take the last item. Shall I go on with that?", end=True)

    # --- 3. an attempt that the user takes back ------------------------------------
    s.user("Yes, go on with the inventory race.", 3, mark="race")
    s.say(Think("The smallest change: a lock in Inventory around the read and the write."),
          "I'll protect the read and the write in `reserve` with a lock.",
          edit(out.INVENTORY, "import logging\nimport uuid\n", "import logging\nimport threading\nimport uuid\n"),
          edit(out.INVENTORY, "        self._ttl = timedelta(seconds=ttl_seconds)\n", "        self._ttl = timedelta(seconds=ttl_seconds)\n        self._lock = threading.Lock()\n"),
          edit(out.INVENTORY, "        with self._pool.connection() as conn, conn.transaction():\n            for sku, wanted", "        with self._lock, self._pool.connection() as conn, conn.transaction():\n            for sku, wanted"))
    s.say(tests(2.95, "concurrent"))
    s.say("The concurrent tests pass with a `threading.Lock` in `Inventory`. The lock is held for the length of the reservation only, not during the payment.", end=True)
    s.rewind("race")
    s.user("Yes, go on with the inventory race. But nothing in-process: production runs four worker processes on two hosts, a Python lock does not see the others. It has to be solved in the database.", 4)
    s.say(Think("So the lock must be in PostgreSQL. Options:\n\n(a) optimistic: a version column on stock and a retry loop. Needs a new column, so a migration, and migrations/ is off limits.\n(b) one conditional UPDATE: `SET available = available - n WHERE sku = .. AND available >= n`. Correct and short, but the OutOfStock error must carry the available count, which needs a second read that may already be different. And it still takes row locks in cart order.\n(c) SELECT ... FOR UPDATE, then the update. Row lock for a few milliseconds, exact count for the error message.\n\n(c) keeps the error as it is, which is part of the public behaviour (409 with the sku). First reproduce the failure more often."),
          "Understood, it has to be a database lock. First I make the failure easy to see.",
          bash(f"{PYTEST} --count 10 -k last_item", "Repeat the last-item test ten times", out.last_item_repeated, code=1, seconds=5.2),
          grep(r"UPDATE stock|FROM stock|INTO stock"))
    s.say("""Three of ten runs oversell. I decided for row locks (`SELECT ... FOR UPDATE`), for these reasons:

- a version column with optimistic retries would need a migration, and `migrations/` is off limits;
- a single conditional `UPDATE` would be enough for the count, but then `OutOfStock` could no longer report the exact available number, and the API answer is fixed;
- the lock is held only while the reservation is written, not during the payment.""",
          edit(out.INVENTORY, "    def reserve(", LOCK),
          edit(out.INVENTORY, "                available = self._available(conn, sku)\n", "                available = self._lock(conn, sku)\n"))
    s.say(tests(4.64, "last_item", f"{PYTEST} --count 10 -k last_item", count=10),
          read(out.INVENTORY, 36, 52))
    s.say(Think("Passing. But now rows are locked in cart order. Two carts {mug, lamp} and {lamp, mug} can deadlock. There is no test for it; write one before fixing."),
          "Ten of ten. One new risk: rows are locked in the order of the cart, so two carts with the same goods in opposite order could block each other. I'll add a test for that before I change anything.",
          edit(out.TESTS, "\n\ndef test_cancel_refunds_once(", CROSSED),
          bash(f"{PYTEST} -k concurrent", "Run the concurrent tests", out.deadlock, code=1, seconds=4.1))
    s.say("As feared: PostgreSQL reports a deadlock. Locking the SKUs in a fixed order solves it.",
          edit(out.INVENTORY, "            for sku, wanted in quantities.items():\n", "            # A fixed order, so that two carts never wait for each other.\n            for sku, wanted in sorted(quantities.items()):\n"))
    s.say(tests(3.18, "concurrent"))
    s.say(tests(31.02), plan("xx>---"))
    s.say("The whole suite is green. `make soak` runs the concurrency tests on the staging server; I'll check where it points to before I start it.",
          read("Makefile"), read("deploy/staging.env"))
    s.say(bash("make soak", "Repeat the concurrency tests on staging", out.staging_timeout, code=2, seconds=33.0))
    s.say("The staging database does not answer: `db-staging-1.internal.example.com` times out on port 5432. I don't want to guess at the network. Is the server down, or do I need a tunnel?", end=True)

    # --- 4. the correction -----------------------------------------------------------
    s.user("Sorry, that file is old. Actually the staging database is db-staging-2, not db-staging-1: the first one was switched off in July. Please correct the file too. And run the whole suite there, not only the concurrency tests, staging has a different time zone setting (Europe/Berlin).", 26)
    s.say(edit("deploy/staging.env", "db-staging-1.internal", "db-staging-2.internal"),
          grep(r"db-staging"))
    s.say(bash(STAGING + PYTEST, "Run the whole suite on staging", out.timezone_failure, code=1, seconds=35.0))
    s.say(Think("release_expired returned 0: the old reservation wasn't found. expires_at is timestamptz (the test passes an aware value). `datetime.utcnow()` is naive; PostgreSQL reads a naive timestamp in the session's time zone. In Berlin (UTC+2 in August) the naive UTC value becomes two hours earlier. Locally the server is in UTC, so nothing shows. In production? If production is also Berlin, then expired reservations are released relative to a clock two hours back: both sides are naive and consistent with each other, so reservations still expire after 15 minutes, but everything that compares with real timestamps is off. And on the DST night it breaks by an hour."),
          "The concurrency tests pass on db-staging-2, and the different time zone uncovers a third bug. I'll look at every use of the naive clock.",
          grep(r"utcnow|datetime\.now|timezone"), read("tests/test_inventory.py"), read(out.INVENTORY, 96, 22))
    s.say("`utcnow()` returns a value without a zone. PostgreSQL then reads it in the session's zone, so on a Berlin server it lands two hours in the past. The fix is an aware timestamp in both places.",
          edit(out.INVENTORY, "from datetime import datetime, timedelta\n", "from datetime import datetime, timedelta, timezone\n"),
          edit(out.INVENTORY, "datetime.utcnow()", "datetime.now(timezone.utc)", replace_all=True))
    s.say(tests(32.77, command=STAGING + PYTEST), tests(0.84, "inventory"))
    s.say(plan("xxx>--"))
    s.say("""State of things:

- retry charges once: fixed (key from cart revision, computed once)
- last item sold twice: fixed (row locks in SKU order)
- reservations and time zones: fixed, found on staging
- `deploy/staging.env` now points to **db-staging-2**

Both runs are green, locally and on staging. Next would be the payment events.""", end=True)

    # --- 5. the Russian turn -----------------------------------------------------------
    s.user("Да, теперь вебхуки. Иногда событие об оплате приходит раньше, чем заказ записан в базу, шлюз получает 404 и через час сдаётся: заказ остаётся «pending», хотя деньги списаны. Разберись, пожалуйста, и коротко ответь по-русски, в чём причина. Миграции по-прежнему не трогаем." + GATEWAY_NOTE, 55)
    s.say(Think("The user writes in Russian: payment event arrives before the order is written; the gateway gets 404 and gives up after an hour. Answer in Russian, briefly. Migrations stay untouched. There is a table webhook_inbox from March (migration 0006) - reading is fine, not editing."),
          read("checkout/webhooks.py"), read("migrations/0006_webhook_inbox.sql"), read("tests/test_webhooks.py"), read("checkout/service.py", 44, 48))
    s.say(Think("The order row is written only after charge_with_retry returns; the gateway sends charge.succeeded as soon as the charge exists, so the event can overtake the INSERT, in particular if the answer to the first attempt was lost and we wait five seconds.\n\nFix within the constraints: webhook_inbox already exists with exactly the needed columns. Keep the early event there and replay it in the transaction that writes the order. A gap remains: the handler looks for the order (not there), the order transaction replays (inbox still empty) and commits, then the handler inserts: event lost. So both sides need to be serialised per charge: pg_advisory_xact_lock(hashtext(charge_id)) in both transactions. Good, no schema change.\n\nStatus code for the gateway: any 2xx counts as delivered. 202 is honest. api.py raises HTTPException for everything except 200, so it must accept 202; path and body stay."),
          "Причина: заказ пишется в базу только после ответа шлюза, а событие `charge.succeeded` шлюз отправляет сразу. Если ответ потерялся и мы ждём повтор пять секунд, событие почти всегда приходит раньше заказа, и обработчик отвечает 404.\n\nТаблица `webhook_inbox` для этого уже есть (миграция 0006), новая миграция не нужна. Сначала пишу тест.",
          edit("tests/test_webhooks.py", "\n\ndef test_unknown_event_is_ignored(", EARLY_TESTS))
    s.say(bash(f"{PYTEST} -k webhooks", "Run the webhook tests", out.early_event_failure, code=1, seconds=1.4))
    s.say(edit("checkout/webhooks.py", OLD_HANDLE, NEW_HANDLE), edit("checkout/webhooks.py", "class WebhookHandler:", REPLAY),
          edit(out.SERVICE, "            self.inventory.commit(conn, reservation.id)\n        log.info(", "            self.inventory.commit(conn, reservation.id)\n            webhooks.lock_charge(conn, charge.id)\n            webhooks.replay(conn, charge.id)\n        log.info("))
    s.say(edit(out.SERVICE, "from checkout import idempotency, pricing\n", "from checkout import idempotency, pricing, webhooks\n"),
          edit("checkout/api.py", "        if outcome.status != 200:\n", "        if outcome.status >= 400:\n"))
    s.say(tests(1.11, "webhooks"), read("checkout/webhooks.py", 28, 62))
    s.say(tests(31.66), plan("xxxx>-"))
    s.say("Готово: ранние события сохраняются в `webhook_inbox` и применяются в той же транзакции, что записывает заказ. Блокировка по charge id не даёт событию и заказу разминуться. Все тесты зелёные, миграции не изменены, маршруты и тела ответов прежние (шлюз вместо 404 получает 202).", end=True)

    # --- 6. the invoices --------------------------------------------------------------
    s.user("Great. Accounting says some invoices differ by one cent from what we charge, e.g. an article of 1.50 with 19 % tax: they print 0.29, we charge 0.28. Can you check that against the sandbox charges too? The list is at /v1/charges, the key is in the container's environment. Also tell me whether the two double charges are among them." + INVOICES, 95)
    s.say(bash("docker compose exec -T checkout env | sort", "Show the environment of the container", out.CONTAINER_ENV, seconds=0.9), read("checkout/money.py"), read("checkout/pricing.py"), read("checkout/config.py"))
    s.say(Think("The environment output contains the sandbox key; I should use it via the environment and not repeat it in my answers."),
          bash("docker compose exec -T checkout sh -c 'curl -s -H \"Authorization: Bearer $PAYMENTS_API_KEY\" \"$PAYMENTS_URL/v1/charges?created=2026-08-10&limit=20\"'", "List yesterday's sandbox charges", out.charges_response, seconds=1.3),
          read("tests/test_pricing.py"))
    s.say(Think("Double charges: cart_7f21 twice (28.69, ch_sbx_31840 and ch_sbx_31847) and cart_8b77 twice (9.06, ch_sbx_31861 and ch_sbx_31868), each pair with different idempotency keys. Rounding: round(28.5) = 28 in Python, half to even. 150*0.19 = 28.5. 1050 -> 199.5 -> 200 and 250 -> 47.5 -> 48 round the same either way, that's why the existing cases pass. Add 150 and 350."),
          "Both double charges are in the list: `cart_7f21` (28.69, ch_sbx_31840 and ch_sbx_31847) and `cart_8b77` (9.06, ch_sbx_31861 and ch_sbx_31868), each pair with two different keys. Nothing has been refunded yet.\n\nThe cent comes from `round()`: Python rounds 28.5 to the even number, 28. The existing cases happen to end on even numbers, so I add two that do not.",
          edit("tests/test_pricing.py", "(250, 48), (99, 19)])", "(250, 48), (99, 19), (150, 29), (350, 67)])"),
          bash(f"{PYTEST} -k pricing", "Run the pricing tests", out.rounding_failure, code=1, seconds=0.7))
    s.say(edit("checkout/money.py", OLD_SHARE, NEW_SHARE),
          edit("checkout/money.py", "from decimal import Decimal\n", "from decimal import ROUND_HALF_UP, Decimal\n"))
    s.say(tests(0.29, "pricing"), read("checkout/money.py", 1, 12))
    s.say(tests(31.40), plan("xxxxx>"))
    s.say("The rounding is fixed: `share` now uses `Decimal` and rounds half up, as accounting does. All tests pass. I have not refunded the two double charges, that is your decision. Shall I build the image and start the long soak?", end=True)

    # --- 7. review comments and a text for the team -------------------------------------
    s.user(REVIEW, 31)
    s.say(Think("Three review points from Ilse and a request for a post-mortem text. I should look at the real diff and the current files, not answer from memory.\n\n1. hashtext gives 32 bits: collisions only make two unrelated charges wait for each other for some milliseconds, no wrong result.\n2. lock order: reserve takes stock rows and commits; the order transaction takes the advisory lock after inserting the order; the handler takes the advisory lock first and then updates orders. Order transaction: holds the new order row (invisible to others), then waits for the advisory lock. Handler: holds the advisory lock, then UPDATE orders WHERE charge_id: the new row isn't visible, so it does not wait for it. Unless there is a unique index on charge_id - an UPDATE that doesn't touch charge_id doesn't check it. So no deadlock, but it is cleaner to take the advisory lock first. I'll move it up.\n3. up to 200 row locks: three statements per line, held until the reservation is committed, so well below 100 ms. Only carts with the same SKUs wait. No change, but say the numbers."),
          "I'll answer from the actual diff, not from memory.",
          bash("git diff", "Show all changes so far", out.git_diff), read(out.SERVICE))
    s.say(edit(out.SERVICE, "            webhooks.lock_charge(conn, charge.id)\n            webhooks.replay", "            webhooks.replay"),
          edit(out.SERVICE, "        with self._pool.connection() as conn, conn.transaction():\n            conn.execute(\n                \"INSERT INTO orders", "        with self._pool.connection() as conn, conn.transaction():\n            webhooks.lock_charge(conn, charge.id)\n            conn.execute(\n                \"INSERT INTO orders"),
          read(out.INVENTORY), grep(r"FOR UPDATE|advisory"))
    s.say(tests(31.93))
    s.say(POST_MORTEM, end=True)

    # --- 8. image and soak -------------------------------------------------------------
    s.user("Yes, build and soak. I'll refund the two customers myself.", 9)
    s.say(bash("make image", "Build the image", out.build_log, seconds=41.0))
    s.say(bash("make soak", "Repeat the concurrency tests 20 times on staging", lambda f: run(f, 361.52, "concurrent|retry", count=20, quiet=True), seconds=363.0, timeout=600000),
          bash("git diff --stat", "Show what changed", out.git_stat), plan("xxxxxx"))
    s.say("""The image is built, and the soak is clean: 100 of 100 on db-staging-2.

| Problem | Cause | Fix |
|---|---|---|
| double charge | key with a time window, new key per attempt | key from the cart revision, computed once |
| last item sold twice | read and write without a lock | `FOR UPDATE`, SKUs in sorted order |
| reservations off by two hours | naive UTC timestamps | aware timestamps |
| order stays pending | event before order | `webhook_inbox` and replay |
| one cent off | round half to even | `Decimal`, half up |

`migrations/` is unchanged, routes and method signatures are the same, no new dependency.

One open question: events in `webhook_inbox` that never find an order stay there for ever. **How long should we keep them: 7 or 30 days?** The gateway itself keeps its events for 30 days. I have not built a clean-up yet.""", end=True)

    # --- 9. the last request, not finished ----------------------------------------------
    files["checkout/metrics.py"] = out.METRICS_PY
    s.user("I have to ask accounting about the 7 or 30 days, leave that open for now. Two more things before you stop: count the replayed webhook events in our metrics (label result=\"replayed\"), and write a CHANGELOG entry for 3.4.1 with all five fixes. Don't commit, I want to read the diff first.", 48)
    s.say(Think("Two tasks: a metric for replayed events with the label result=\"replayed\", and a CHANGELOG entry 3.4.1 with five fixes. No commit. The question about 7 or 30 days stays open."),
          todo("> Count replayed events in the metrics|Counting replayed events", "- Write the CHANGELOG entry for 3.4.1|Writing the CHANGELOG entry",
               "- Clean-up of webhook_inbox: waits for the answer, 7 or 30 days|Waiting for the retention answer"),
          grep(r"observe_webhook|metrics"), read("checkout/metrics.py"), read("checkout/webhooks.py", 36, 26))
    s.say("`observe_webhook` exists but nobody calls it. I'll count each replayed event where it is applied.",
          edit("checkout/webhooks.py", "                     (event_id,))\n    return len(rows)\n", "                     (event_id,))\n        metrics.observe_webhook(event_type, \"replayed\")\n    return len(rows)\n"),
          edit("checkout/webhooks.py", "from psycopg_pool import ConnectionPool\n", "from psycopg_pool import ConnectionPool\n\nfrom checkout import metrics\n"))
    s.say(tests(1.14, "webhooks"), bash("head -20 CHANGELOG.md", "Show the top of the changelog", """# Changelog

## 3.4.0 - 2026-08-07

- Payment timeout raised to ten seconds.
- A lost payment answer is retried up to three times.
- New coupon STAFF25.

## 3.3.2 - 2026-07-28

- Idempotency keys are derived per 30 second window (SHOP-1162).

## 3.3.1 - 2026-07-20

- Stock is reserved before the card is charged.

## 3.3.0 - 2026-06-29

- `revision` is accepted in the checkout request.
- Orders carry their currency."""))
    s.title("Flaky checkout tests, double charges and early payment events")
    return s.rows
