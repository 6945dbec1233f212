"""Command outputs of the checkout story: listing, history, build, API, test runs."""

from __future__ import annotations

import difflib
import hashlib
import json

from common import diff_stat, line_of, load_bundle
from pytest_log import failure, frame, log_line, run

SERVICE, INVENTORY, PAYMENTS = "checkout/service.py", "checkout/inventory.py", "checkout/payments.py"
TESTS = "tests/test_checkout.py"


def commit(number: int) -> str:
    return hashlib.sha1(f"shop-{number}".encode()).hexdigest()


HISTORY = [
    ("Dana", "Mon Aug 10 16:41:07 2026 +0200", "Raise the CI timeout for test_checkout.py",
     "It is red too often. Somebody has to look at it properly before the\n    September sale."),
    ("Miro", "Fri Aug 7 11:20:55 2026 +0200", "Raise the payment timeout to ten seconds",
     "The sandbox needs up to eight seconds on Monday mornings."),
    ("Dana", "Wed Aug 5 09:02:31 2026 +0200", "Retry a lost payment answer three times",
     "Before this, one lost answer failed the whole checkout. The pause\n    between two attempts is five seconds."),
    ("Ilse", "Thu Jul 30 14:13:48 2026 +0200", "Add STAFF25 coupon", "Valid until the end of the year, see SHOP-1180."),
    ("Miro", "Tue Jul 28 17:55:10 2026 +0200", "Derive idempotency keys per 30 second window",
     "A customer bought the same gift card twice within a minute and got\n    only one. The window makes the second purchase a new one. SHOP-1162"),
    ("Ilse", "Mon Jul 20 10:31:02 2026 +0200", "Reserve stock before charging the card",
     "Replaces the nightly job that cancelled orders we could not ship."),
    ("Dana", "Thu Mar 12 15:44:29 2026 +0100", "Add webhook_inbox for the invoice service", "Migration 0006. SHOP-987"),
]


def git_log(_files=None) -> str:
    return "\n\n".join(
        f"commit {commit(n)}\nAuthor: {name} <{name.lower()}@example.com>\nDate:   {date}\n\n"
        f"    {title}\n\n    {body}" for n, (name, date, title, body) in enumerate(HISTORY))


def git_diff(files) -> str:
    """The real difference between the files at the start and now."""
    before, parts = load_bundle("shop.txt"), []
    for path in sorted(before):
        if files[path] != before[path]:
            blobs = [hashlib.sha1(text.encode()).hexdigest()[:7] for text in (before[path], files[path])]
            rows = difflib.unified_diff(before[path].splitlines(), files[path].splitlines(),
                                        f"a/{path}", f"b/{path}", lineterm="")
            parts.append(f"diff --git a/{path} b/{path}\nindex {blobs[0]}..{blobs[1]} 100644\n" + "\n".join(rows))
    return "\n".join(parts)


def git_stat(files) -> str:
    return diff_stat(load_bundle("shop.txt"), files)


def listing(files) -> str:
    sizes = {path: len(text) for path, text in files.items()} | {
        "checkout/__init__.py": 62, "checkout/db.py": 884, "checkout/logging.py": 1207,
        "checkout/metrics.py": len(METRICS_PY), "migrations/0001_orders.sql": 911,
        "migrations/0002_stock.sql": 342, "migrations/0003_reservations.sql": 655,
        "migrations/0004_order_currency.sql": 180, "migrations/0005_order_charge_index.sql": 121,
        "migrations/0007_orders_customer_index.sql": 118, "tests/__init__.py": 0,
        "tests/test_api.py": 2790, "tests/test_config.py": 1033, "pyproject.toml": 1120,
        "uv.lock": 88214, "Dockerfile": 733, "CHANGELOG.md": 4210, "deploy/production.env": 301}
    rows = [f"-rw-r--r-- 1 dev dev {size:6d} Aug 1{n % 2} 0{7 + n % 3}:{(n * 17) % 60:02d} ./{path}"
            for n, (path, size) in enumerate(sorted(sizes.items()))]
    return "\n".join(rows)


PACKAGES = """annotated-types 0.7.0 anyio 4.4.0 certifi 2024.7.4 click 8.1.7 fastapi 0.112.0 h11 0.14.0
httpcore 1.0.5 httptools 0.6.1 httpx 0.27.0 idna 3.7 orjson 3.10.6 prometheus-client 0.20.0 psycopg 3.2.1
psycopg-binary 3.2.1 psycopg-pool 3.2.2 pydantic 2.8.2 pydantic-core 2.20.1 python-dotenv 1.0.1
pyyaml 6.0.1 sniffio 1.3.1 starlette 0.37.2 structlog 24.4.0 typing-extensions 4.12.2 uvicorn 0.30.5
uvloop 0.19.0 watchfiles 0.22.0 websockets 12.0""".split()


def build_log(_files=None) -> str:
    def sha(name):
        return hashlib.sha256(name.encode()).hexdigest()
    rows = ["#0 building with \"default\" instance using docker driver", "",
            "#1 [internal] load build definition from Dockerfile",
            "#1 transferring dockerfile: 733B done", "#1 DONE 0.0s", "",
            "#2 [internal] load metadata for registry.example.com/base/python:3.12-slim", "#2 DONE 0.6s", "",
            "#3 [1/7] FROM registry.example.com/base/python:3.12-slim@sha256:" + sha("base")]
    for layer in range(6):
        rows.append(f"#3 sha256:{sha(f'layer{layer}')[:40]} {3.1 + layer * 4.7:.2f}MB / {3.1 + layer * 4.7:.2f}MB {0.4 + layer * 0.3:.1f}s done")
    rows += ["#3 extracting sha256:" + sha("layer5")[:40] + " 1.9s done", "#3 DONE 4.8s", "",
             "#4 [2/7] RUN apt-get update && apt-get install -y --no-install-recommends libpq5"]
    clock = 0.31
    for name in ("base bookworm InRelease [151 kB]", "base bookworm-updates InRelease [55.4 kB]",
                 "security bookworm-security InRelease [48.0 kB]", "base bookworm/main amd64 Packages [8788 kB]"):
        clock += 0.22
        rows.append(f"#4 {clock:.3f} Get: https://mirror.example.com/{name}")
    for name in ("libkeyutils1", "libkrb5support0", "libk5crypto3", "libkrb5-3", "libgssapi-krb5-2",
                 "libsasl2-2", "libldap-2.5-0", "libpq5"):
        clock += 0.09
        rows += [f"#4 {clock:.3f} Unpacking {name}:amd64 ...", f"#4 {clock + 0.04:.3f} Setting up {name}:amd64 ..."]
    rows += [f"#4 DONE {clock + 1.2:.1f}s", "", "#5 [3/7] COPY pyproject.toml uv.lock ./", "#5 DONE 0.1s", "",
             "#6 [4/7] RUN pip install --no-cache-dir -r <(uv export --frozen)"]
    clock = 1.1
    for name, version in zip(PACKAGES[::2], PACKAGES[1::2]):
        clock += 0.17
        rows += [f"#6 {clock:.3f} Collecting {name}=={version}",
                 f"#6 {clock + 0.08:.3f}   Downloading https://pypi.example.com/packages/{name.replace('-', '_')}-{version}-py3-none-any.whl"]
    rows.append(f"#6 {clock + 2:.3f} Successfully installed " + " ".join(
        f"{n}-{v}" for n, v in zip(PACKAGES[::2], PACKAGES[1::2])))
    rows += [f"#6 DONE {clock + 3.4:.1f}s", "", "#7 [5/7] COPY checkout ./checkout", "#7 DONE 0.1s", "",
             "#8 [6/7] RUN python -m compileall -q checkout", "#8 DONE 0.7s", "",
             "#9 [7/7] RUN adduser --system --uid 10001 checkout", "#9 DONE 0.4s", "",
             "#10 exporting to image", "#10 exporting layers 1.6s done",
             "#10 writing image sha256:" + sha("image") + " done",
             "#10 naming to registry.example.com/shop/checkout:dev done", "#10 DONE 1.7s"]
    return "\n".join(rows)


def charges_response(_files=None) -> str:
    """Answer of the sandbox gateway: two purchases were charged twice."""
    plan = [("7f21", 2869, 0, "14:20:27"), ("7f21", 2869, 0, "14:20:32"), ("8a04", 5420, 1, "14:31:05"),
            ("8b77", 906, 2, "15:02:58"), ("8b77", 906, 2, "15:03:03"), ("91c0", 17850, 3, "15:40:11"),
            ("92e5", 668, 4, "16:07:44"), ("95aa", 1144, 5, "17:15:20"), ("97d3", 3465, 6, "18:52:36")]
    rows = []
    for n, (cart, amount, customer, at) in enumerate(plan):
        key = hashlib.sha256(f"key{n}".encode()).hexdigest()[:32]
        rows.append({
            "id": f"ch_sbx_{31840 + n * 7}", "object": "charge", "amount": amount, "currency": "EUR",
            "status": "succeeded", "captured": True, "created": f"2026-08-10T{at}Z",
            "idempotency_key": f"chk_{key}", "metadata": {"cart_id": f"cart_{cart}", "channel": "mobile"},
            "customer": {"id": f"cus_{4400 + customer}", "email": f"customer{customer + 1}@example.com"},
            "source": {"type": "card", "kind": ["credit", "debit"][customer % 2], "last4": "4242",
                       "exp_month": 12, "exp_year": 2029, "country": "DE"},
            "outcome": {"network_status": "approved", "risk_level": "normal", "risk_score": 11 + n * 4},
            "refunded": False, "refunds": {"total_count": 0, "data": []}})
    return json.dumps({"object": "list", "has_more": False, "total_count": len(rows), "data": rows}, indent=1)


def _objects(*names) -> str:
    kinds = {"service": "checkout.service.CheckoutService", "gateway": "tests.conftest.FakeGateway",
             "pool": "psycopg_pool.pool.ConnectionPool", "webhooks": "checkout.webhooks.WebhookHandler"}
    return "\n".join(
        f"{name} = <function stock.<locals>.put at 0x7f81c0a3f1a0>" if name == "stock" else
        f"{name} = <{kinds[name]} object at 0x7f81c0{0x4d10 + 0x150 * n:x}>" for n, name in enumerate(names))


def _retry_failure(files, test, salt) -> str:
    twice = "twice" in test
    keys = [f"chk_{hashlib.md5(f'{salt}{n}'.encode()).hexdigest()}" for n in (1, 2)]
    needle = "assert len(gateway.charges) == 1, \"customer"
    text = files[TESTS]
    part = dict(files) | {TESTS: text if not twice else text.replace(needle, "#" + needle[1:], 1)}
    body = frame(part, TESTS, needle, [
        "AssertionError: customer was charged more than once",
        "assert 2 == 1",
        " +  where 2 = len({" + ", ".join(
            f"'{key}': Charge(id='ch_000{n}', idempotency_key='{key}', amount=Money(cents=2869, currency='EUR'), status='succeeded')"
            for n, key in enumerate(keys, 1)) + "})",
        " +    where {...} = <tests.conftest.FakeGateway object at 0x7f81c04e60>.charges"], "AssertionError")
    log = [log_line(files, "INFO", INVENTORY, "log.info(\"reserved", f"reserved res_{keys[0][8:24]} for cart c1: {{'mug': 1}}"),
           log_line(files, "WARNING", PAYMENTS, "log.warning(", "charge attempt 1/3 failed: answer lost")]
    if twice:
        log.append(log_line(files, "WARNING", PAYMENTS, "log.warning(", "charge attempt 2/3 failed: answer lost"))
    log.append(log_line(files, "INFO", SERVICE, "log.info(", f"order ord_{keys[1][8:24]} written, charge ch_0002, total 28.69 EUR"))
    return failure(test, [body], _objects("service", "gateway", "stock"), log)


def _last_item_failure(files, sold, test="test_concurrent_last_item", at="7, 5, 2") -> str:
    orders = ", ".join(
        f"Order(id='ord_{hashlib.md5(str(n).encode()).hexdigest()[:16]}', cart_id='c{n * 3}', customer_id='cus_c{n * 3}', "
        f"charge_id='ch_000{n + 1}', total=Money(cents=2869, currency='EUR'), state=<OrderState.PENDING: 'pending'>, "
        f"created_at=datetime.datetime(2026, 8, 11, {at}, {118042 + n * 911}, tzinfo=datetime.timezone.utc))"
        for n in range(sold))
    body = frame(files, TESTS, "assert len(sold) == 1", [f"assert {sold} == 1", f" +  where {sold} = len([{orders}])"], "AssertionError")
    log = [log_line(files, "INFO", INVENTORY, "log.info(\"reserved", f"reserved res_{hashlib.md5(f'r{n}'.encode()).hexdigest()[:16]} for cart c{n * 3}: {{'mug': 1}}") for n in range(sold)]
    log += [log_line(files, "INFO", SERVICE, "log.info(", f"order ord_{hashlib.md5(str(n).encode()).hexdigest()[:16]} written, charge ch_000{n + 1}, total 28.69 EUR") for n in range(sold)]
    return failure(test, [body], _objects("service", "gateway", "stock"), log)


def first_run(files) -> str:
    one, two = f"{TESTS}::test_retry_charges_once", f"{TESTS}::test_concurrent_last_item"
    return run(files, 31.84, failed={one: _retry_failure(files, "test_retry_charges_once", "first"), two: _last_item_failure(files, 2)},
               reasons={one: "AssertionError: customer was charged more than once", two: "assert 2 == 1"}) + "\nmake: *** [Makefile:4: test] Error 1"


def second_run(files, salt="second") -> str:
    one = f"{TESTS}::test_retry_twice_charges_once"
    return run(files, 36.20, failed={one: _retry_failure(files, "test_retry_twice_charges_once", salt)},
               reasons={one: "AssertionError: customer was charged more than once"}) + "\nmake: *** [Makefile:4: test] Error 1"


def last_item_repeated(files) -> str:
    bad = {f"{TESTS}::test_concurrent_last_item[{n}-10]": (n, sold) for n, sold in ((2, 2), (5, 3), (9, 2))}
    return run(files, 4.77, select="last_item", count=10,
               failed={i: _last_item_failure(files, sold, f"test_concurrent_last_item[{n}-10]", "7, 24, 4") for i, (n, sold) in bad.items()},
               reasons={i: f"assert {sold} == 1" for i, (n, sold) in bad.items()})


def deadlock(files) -> str:
    test = "test_concurrent_crossed_carts"
    library = "/usr/lib/python3.12/concurrent/futures"
    frames = [
        frame(files, TESTS, "orders = list(threads.map("),
        f"{library}/_base.py:619: in result_iterator\n    yield _result_or_cancel(fs.pop())\n"
        f"{library}/_base.py:317: in _result_or_cancel\n    return fut.result(timeout)\n"
        f"{library}/_base.py:456: in result\n    return self.__get_result()\n"
        f"{library}/thread.py:58: in run\n    result = self.fn(*self.args, **self.kwargs)\n",
        frame(files, SERVICE, "reservation = self.inventory.reserve("),
        frame(files, INVENTORY, "available = self._lock(conn, sku)"),
        frame(files, INVENTORY, "FOR UPDATE", shift=-1),
        "self = <psycopg.Connection [INERROR] (host=localhost user=shop database=shop_test) at 0x7f81c09b10>\n"
        "query = 'SELECT available FROM stock WHERE sku = %s FOR UPDATE', params = ('mug',)\n\n"
        "        try:\n            cur = self.cursor()\n            return cur.execute(query, params, prepare=prepare)\n"
        "        except e.Error as ex:\n>           raise ex.with_traceback(None)\n"
        "E           psycopg.errors.DeadlockDetected: deadlock detected\n"
        "E           DETAIL:  Process 4187 waits for ShareLock on transaction 90214; blocked by process 4190.\n"
        "E           Process 4190 waits for ShareLock on transaction 90213; blocked by process 4187.\n"
        "E           HINT:  See server log for query details.\n"
        "E           CONTEXT:  while locking tuple (0,2) in relation \"stock\"\n\n"
        ".venv/lib/python3.12/site-packages/psycopg/connection.py:277: DeadlockDetected\n"]
    log = [log_line(files, "INFO", INVENTORY, "log.info(\"reserved", f"reserved res_{i} for cart {c}: {q}") for i, c, q in (
        ("3e90b1c75fd24a86", "a0", "{'mug': 1, 'lamp': 1}"), ("b81f06d2e74c4930", "a2", "{'mug': 1, 'lamp': 1}"))]
    ident = f"{TESTS}::{test}"
    return run(files, 3.61, select="concurrent", failed={ident: failure(test, frames, _objects("service", "stock"), log)},
               reasons={ident: "psycopg.errors.DeadlockDetected: deadlock detected"})


def timezone_failure(files) -> str:
    test, path = "test_release_expired_only_takes_old_ones", "tests/test_inventory.py"
    body = frame(files, path, "assert service.inventory.release_expired() == 1", [
        "assert 0 == 1",
        " +  where 0 = release_expired()",
        " +    where release_expired = <checkout.inventory.Inventory object at 0x7f2b9c1150>.release_expired",
        " +      where <checkout.inventory.Inventory object at 0x7f2b9c1150> = <checkout.service.CheckoutService object at 0x7f2b9c0d10>.inventory"], "AssertionError")
    log = [log_line(files, "INFO", INVENTORY, "log.info(\"reserved", f"reserved res_{i} for cart {c}: {{'mug': 1}}") for i, c in (("c0a8e1f75b2d4963", "c1"), ("07de94ab3f6c4521", "c2"))]
    ident = f"{path}::{test}"
    return run(files, 33.10, failed={ident: failure(test, [body], _objects("service", "pool", "stock"), log)}, reasons={ident: "assert 0 == 1"})


def early_event_failure(files) -> str:
    test, path = "test_paid_event_before_order_is_kept", "tests/test_webhooks.py"
    body = frame(files, path, "assert (early.status, early.detail)", [
        "AssertionError: assert (404, 'unknown charge') == (202, 'kept')", "  ", "  At index 0 diff: 404 != 202", "  ",
        "  Full diff:", "    (", "  -     202,", "  +     404,", "  -     'kept',", "  +     'unknown charge',", "    )"], "AssertionError")
    log = [log_line(files, "WARNING", "checkout/webhooks.py", "log.warning(", "event evt_7: no order for charge ch_0001")]
    ident = f"{path}::{test}"
    return run(files, 1.02, select="webhooks", failed={ident: failure(test, [body], _objects("service", "stock", "webhooks"), log)},
               reasons={ident: "AssertionError: assert (404, 'unknown charge') == (202, 'kept')"})


def rounding_failure(files) -> str:
    path, bad = "tests/test_pricing.py", {}
    for cents, want, got in ((150, 29, 28), (350, 67, 66)):
        test = f"test_tax_is_rounded_half_up[{cents}-{want}]"
        body = frame(files, path, "assert pricing.quote(one_line(cents)", [
            f"AssertionError: assert Money(cents={got}, currency='EUR') == Money(cents={want}, currency='EUR')", "  ",
            "  Omitting 1 identical items, use -vv to show", "  Differing attributes:", "  ['cents']", "  ",
            "  Drill down into differing attribute cents:", f"    cents: {got} != {want}"], "AssertionError")
        bad[f"{path}::{test}"] = failure(test, [body], f"cents = {cents}, tax = {want}")
    return run(files, 0.31, select="pricing", failed=bad, reasons={i: "AssertionError: assert Money(cents=..." for i in bad})


def staging_timeout(files) -> str:
    """`make soak` with a database server that does not answer."""
    head = run(files, 0, select="concurrent_last", quiet=True).split("collected")[0]
    return head + f"""collected 680 items / 580 deselected / 100 selected

tests/test_checkout.py  E

==================================== ERRORS ====================================
______________ ERROR at setup of test_retry_charges_once[1-20] _________________

{frame(files, "tests/conftest.py", "with ConnectionPool(")}
.venv/lib/python3.12/site-packages/psycopg_pool/pool.py:157: in wait
    raise PoolTimeout(f"pool initialization incomplete after {{timeout}} sec")
E   psycopg_pool.PoolTimeout: pool initialization incomplete after 30.0 sec
------------------------------ Captured log setup ------------------------------
WARNING  psycopg.pool:pool.py:676 error connecting in 'pool-1': connection to server at "db-staging-1.internal.example.com" (198.51.100.21), port 5432 failed: Connection timed out
	Is the server running on that host and accepting TCP/IP connections?
!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!!
=================== 580 deselected, 1 error in 30.41s ====================
make: *** [Makefile:7: soak] Error 1"""


CONTAINER_ENV = """DATABASE_URL=postgresql://shop@db-staging-2.internal.example.com:5432/shop_soak
DB_POOL_SIZE=8
LOG_LEVEL=INFO
PAYMENTS_API_KEY=sk-test-EXAMPLE-not-a-real-key-000000000000
PAYMENTS_TIMEOUT_SECONDS=10
PAYMENTS_URL=https://pay-sandbox.example.com
PYTHONUNBUFFERED=1
RESERVATION_TTL_SECONDS=900
TAX_COUNTRY=DE"""

METRICS_PY = '''"""Counters exported at /metrics."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

ORDERS = Counter("checkout_orders_total", "Orders written", ["channel"])
DECLINED = Counter("checkout_declined_total", "Declined charges", ["reason"])
RETRIES = Counter("checkout_payment_retries_total", "Payment attempts after the first")
OUT_OF_STOCK = Counter("checkout_out_of_stock_total", "Refused carts", ["sku"])
WEBHOOKS = Counter("checkout_webhooks_total", "Gateway events", ["type", "result"])

CHECKOUT_SECONDS = Histogram(
    "checkout_duration_seconds",
    "Time from request to written order",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20),
)


def observe_webhook(event_type: str, result: str) -> None:
    """Count one handled event; unknown types share one label value."""
    known = {"charge.succeeded", "charge.refunded"}
    WEBHOOKS.labels(event_type if event_type in known else "other", result).inc()
'''
