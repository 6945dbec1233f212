"""Two reports disagree about revenue; an analyst finds the parts of the gap one by one."""

from noise import columns
from noise import numbered
from noise import psql
from noise import weave
from scene import Scene


def days(d, count, month, header=("day", "orders", "gross", "refunds", "net")):
    return psql([list(header), *[[f"2026-{month:02d}-{n:02d}", d.fill("<310-940>"), d.fill("<21000-68000>.<10-99>"), d.fill("<300-4100>.<10-99>"), d.fill("<19000-64000>.<10-99>")] for n in range(1, count + 1)]])


def dbt(d, count, facts=(), at=0.7):
    return weave(d.log(count, "2026-11-04T09:30:00", (80, 900), [
        "<+2> of 88 START sql <table|view|incremental> model <mart|stage|core>.<orders|items|customers|shipping|vat|fx|stores|returns>_<daily|base|current|enriched> [RUN]",
        "<+1> of 88 OK created sql <table|view|incremental> model <mart|stage|core>.<orders|items|customers|shipping|vat|fx|stores|returns>_<daily|base|current|enriched> [SUCCESS in 0.<10-99>s]",
        "<+1> of 88 PASS <not_null|unique|relationships|accepted_values>_<orders|items|customers|vat|fx>_<id|day|code|state> [PASS in 0.<10-99>s]",
    ], "%H:%M:%S"), *facts, at=at)


def build() -> Scene:
    s = Scene(
        "debug-revenue-gap", "debugging",
        "An analyst agent explains why a dashboard and the ledger disagree about a quarter's revenue. The period, the table and the tolerance are "
        "corrected, causes are found with amounts, the remedy is limited on purpose, and one part stays unexplained and blocked.",
        call_prefix="fc_",
    )
    d = s.dice
    password = s.secret("Wq3", "nope", "Ledger", "5120vv")
    token = s.secret("nope4471", "bbbb1111", "cccc2222", "dddd3333")
    s.system("You are a data analyst with tools to query a warehouse (sql), run Python (python) and edit model files. State numbers exactly and say how you got them.")
    s.user("The board deck and the general ledger disagree on net revenue for Q3 (July to September). Find out why. You have read access to the warehouse. House style, please keep to it throughout: amounts in EUR with two decimals, never print customers' e-mail addresses, leave out test merchants (ids beginning with zz_). The dashboard reads mart.revenue_day.")
    s.do("Comparing both sides by day first.",
         ("sql", {"query": "select day, orders, gross, refunds, net from mart.revenue_day where day between '2026-07-01' and '2026-07-25' and merchant_id not like 'zz\\_%' order by 1"}, days(d, 25, 7)),
         ("sql", {"query": "select account, sum(amount) from ledger.entries where period in ('2026-07','2026-08','2026-09') group by 1 order by 1"},
          psql([["account", "sum"], *[[f"{d.number(4000, 4999)} {d.pick(['sales', 'shipping', 'discounts', 'refunds', 'vouchers'])} {d.pick(['DE', 'AT', 'NL', 'FR'])}", d.fill("<10000-900000>.<10-99>")] for _ in range(16)]])))
    s.say("Before I go on: the ledger's periods are fiscal. Does Q3 mean calendar Q3 for you?")
    s.user(f"Good catch, it does not. Our fiscal Q3 is August to October. Redo it for that. Also the dashboard was moved in spring: it reads mart.revenue_daily. mart.revenue_day is a leftover that nobody refreshes. If the login of the tool runs out: postgres://analyst_ro:{password}@wh.example.org:5432/mart")
    s.do("Redoing it for August to October on mart.revenue_daily.",
         ("terminal", {"command": "cat profiles.yml"}, "finance:\n  target: dev\n  outputs:\n    dev:\n      type: postgres\n      host: wh-dev.example.org\n      dbname: mart\n      token: " + token + "\n      threads: 4"),
         ("sql", {"query": "select sum(net) from mart.revenue_daily where day >= '2026-08-01' and day < '2026-11-01' and merchant_id not like 'zz\\_%'"}, psql([["sum"], ["4,918,330.12"]])),
         ("sql", {"query": "select sum(amount) from ledger.entries where fiscal_quarter = 'FY26Q3' and account_class = 'net revenue'"}, psql([["sum"], ["4,870,113.72"]])))
    s.say("Dashboard 4,918,330.12 EUR, ledger 4,870,113.72 EUR: the gap is 48,216.40 EUR, the dashboard is too high. What difference is small enough to stop at?")
    s.user("100.00 EUR. Hm, that is less than rounding over three months; take 500.00.")
    s.do("First split: by kind of booking.",
         ("python", {"code": "gap = merged.groupby('kind')[['dash','ledger']].sum().assign(diff=lambda f: f.dash-f.ledger)\nprint(gap)"},
          "               dash       ledger       diff\nkind\nsale     5301882.40   5290012.15   11870.25\nrefund   -371402.28   -403306.43   31904.15\nvoucher   -12150.00    -16592.00    4442.00\n"),
         ("sql", {"query": "select r.refund_id, r.currency, r.order_day, r.refund_day, r.fx_used, f1.rate at_order, f2.rate at_refund from core.refunds r join core.fx f1 on f1.day=r.order_day and f1.currency=r.currency join core.fx f2 on f2.day=r.refund_day and f2.currency=r.currency where r.currency<>'EUR' limit 24"},
          psql([["refund_id", "currency", "order_day", "refund_day", "fx_used", "at_order", "at_refund"], *[[d.fill("R<100000-999999>"), d.pick(["CHF", "PLN", "SEK", "CZK"]), d.fill("2026-08-<10-28>"), d.fill("2026-10-<10-28>"), rate := d.fill("0.<1000-9800>"), d.fill("0.<1000-9800>"), rate] for _ in range(24)]])))
    s.say("Largest part: 31,904.15 EUR. The dashboard converts refunds at the rate of the refund day (fx_used equals at_refund in every row), the ledger at the rate of the order day.")
    s.user("The ledger is right there: refunds take the rate of the order day, that is our accounting rule. Next, the 11,870.25 on sales.")
    s.do("",
         ("sql", {"query": "select order_id, count(*) n, min(loaded_by), max(loaded_by) from core.orders where day >= '2026-08-01' group by 1 having count(*) > 1 limit 22"},
          psql([["order_id", "n", "min", "max"], *[[d.fill("O-<1000000-9999999>"), "2", "bf_0917", "stream"] for _ in range(22)]])),
         ("sql", {"query": "select count(*), sum(amount) from (select distinct on (order_id) order_id, amount from core.orders where loaded_by='bf_0917' and order_id in (select order_id from core.orders where loaded_by='stream')) x"}, psql([["count", "sum"], ["206", "11,870.25"]])))
    s.say("Explained: the backfill job bf_0917 loaded 206 orders a second time, 11,870.25 EUR in all, to the cent. I wrote their numbers to scratch.rev_gap_0930 and will drop that table when we are done.")
    s.user("Send the list of the 206 orders to the finance controller when the report is ready, I promised it to them. By the way, tolerance: the auditors say 250.00 EUR, so that is what counts.")
    s.say("Noted: tolerance 250.00 EUR, and the list of 206 orders goes to the finance controller with the report. Two ways to repair refunds: patch the dashboard query, or change the model models/marts/fct_refunds.sql. I would patch the dashboard, it is quicker.")
    s.user("Yes, patch it. Wait, no: three other reports read the same model. Fix models/marts/fct_refunds.sql. And restate from 2026-08-01 only, not earlier: the first half is signed off by the auditors and must not move by a cent.")
    s.do("",
         ("read_file", {"path": "models/marts/fct_refunds.sql"}, numbered("{{ config(materialized='incremental', unique_key='refund_id') }}\n\nselect\n  r.refund_id,\n  r.order_id,\n  r.refund_day,\n  r.amount * fx.rate as amount_eur,\n  fx.rate as fx_used\nfrom {{ ref('core_refunds') }} r\njoin {{ ref('core_fx') }} fx\n  on fx.currency = r.currency and fx.day = r.refund_day\n{% if is_incremental() %}\nwhere r.refund_day >= (select max(refund_day) - 7 from {{ this }})\n{% endif %}")),
         ("edit_file", {"path": "models/marts/fct_refunds.sql", "old": "fx.day = r.refund_day", "new": "fx.day = case when r.refund_day >= date '2026-08-01' then r.order_day else r.refund_day end"}, "1 change"))
    s.say("Model changed with the boundary in it. The remaining 4,442.00 EUR are vouchers. One thing blocks the very end: the ledger has no entries for 31 October yet.")
    s.user("The accountant posts 31 October on Thursday. Until then the October total is provisional, say so wherever you show it.")
    # Newer half.
    s.do("On to the vouchers.", ("sql", {"query": "select state, count(*), sum(value) from core.vouchers where issued >= '2026-08-01' group by 1"}, psql([["state", "count", "sum"], ["redeemed", "1,904", "38,220.00"], ["open", "611", "12,150.00"], ["expired", "88", "1,960.00"], ["converted", "71", "1,364.00"]])))
    s.do("", ("sql", {"query": "select day, sum(dash), sum(ledger) from stage.voucher_compare where day >= '2026-09-01' group by 1 order by 1"}, psql([["day", "dash", "ledger"], *[[f"2026-09-{n:02d}", d.fill("<100-900>.00"), d.fill("<100-900>.00")] for n in range(1, 31)]])))
    s.do("", ("python", {"code": "compare.groupby('reason').diff.sum()"}, "reason\ncash_out_not_booked    3324.00\nunknown                1118.00\nName: diff, dtype: float64"))
    s.say("3,324.00 EUR of the vouchers were paid out in shops as cash and never reached the dashboard. 1,118.00 EUR I cannot explain yet.")
    s.user("The cash-outs: is there a source we could load them from?")
    s.do("", ("sql", {"query": "select table_name, column_name from information_schema.columns where table_schema='pos' order by 1,2"}, psql([["table_name", "column_name"], *[[d.pick(["pos_shift", "pos_receipt", "pos_line", "pos_drawer"]), d.fill("<store|till|shift|opened|closed|amount|cashier|kind|ref>_<id|at|no|code>")] for _ in range(30)]])))
    s.do("", ("sql", {"query": "select kind, count(*), sum(amount) from pos.pos_drawer where kind like 'V%' and opened_at >= '2026-08-01' group by 1"}, psql([["kind", "count", "sum"], ["VOUT", "59", "3,324.00"], ["VIN", "4", "80.00"]])))
    s.say("Yes: pos.pos_drawer with kind VOUT has 59 rows and exactly 3,324.00 EUR.")
    s.user("Load them. New stage model, call it stg_voucher_cashout.")
    s.do("", ("write_file", {"path": "models/staging/stg_voucher_cashout.sql", "content": "select\n  drawer_id,\n  store_id,\n  opened_at::date as day,\n  amount\nfrom {{ source('pos', 'pos_drawer') }}\nwhere kind = 'VOUT'\n"}, "created, 7 lines"))
    s.do("", ("terminal", {"command": "dbt build --select stg_voucher_cashout+"}, dbt(d, 52, ["61 of 88 ERROR creating sql table model mart.vouchers_daily [ERROR in 0.41s]", "  Database Error: column \"store_id\" is of type integer but expression is of type text"])))
    s.do("The till system keeps store numbers as text.", ("edit_file", {"path": "models/staging/stg_voucher_cashout.sql", "old": "  store_id,", "new": "  store_id::integer as store_id,"}, "1 change"))
    s.do("", ("terminal", {"command": "dbt build --select stg_voucher_cashout+"}, dbt(d, 60, ["61 of 88 OK created sql table model mart.vouchers_daily [SUCCESS in 0.77s]"]) + "\nDone. PASS=88 WARN=0 ERROR=0 SKIP=0 TOTAL=88"))
    s.say("The build is green on dev, 88 of 88. Nothing is deployed to production yet.")
    s.user("Show me the effect by country.")
    s.do("", ("python", {"code": "print(effect.pivot_table(index='country', columns='month', values='diff', aggfunc='sum'))"}, columns([["country", "aug", "sep", "oct"], *[[c, d.fill("-<10-900>.<10-99>"), d.fill("-<10-900>.<10-99>"), d.fill("-<10-900>.<10-99>")] for c in "AT BE CH CZ DE DK ES FI FR HU IT LU NL NO PL PT RO SE SI SK".split()]])))
    s.do("", ("python", {"code": "daily = effect.groupby('day').diff.agg(['count','sum','min','max'])\nprint(daily.to_string())"}, columns([["day", "count", "sum", "min", "max"], *[[f"2026-{m:02d}-{n:02d}", d.fill("<1-40>"), d.fill("-<10-900>.<10-99>"), d.fill("-<100-400>.<10-99>"), d.fill("-<0-9>.<10-99>")] for m in (8, 9) for n in range(1, 31)]])))
    s.say("Germany and the Netherlands carry most of it, no country moves the other way.")
    s.user("Plausible. Is anything in the effect before August? There must not be.")
    s.do("", ("sql", {"query": "select count(*) from effect where day < '2026-08-01' and diff <> 0"}, psql([["count"], ["0"]])))
    s.say("Zero rows before August. Next is the unexplained rest.")
    s.user("Good. Write the pull request text, then look at the unexplained part again.")
    s.do("", ("sql", {"query": "select voucher_id, value, state, changed_at, changed_by from core.vouchers where state='converted' order by changed_at limit 40"}, psql([["voucher_id", "value", "state", "changed_at", "changed_by"], *[[d.fill("V<10000-99999>"), d.fill("<10|15|20|25|50>.00"), "converted", d.fill("2026-09-<10-29> <08-19>:<10-59>"), d.fill("<desk-3|desk-4|import|api>")] for _ in range(40)]])))

    s.bank_description = "Period, table, tolerance and rules as they stand after the corrections; the parts of the gap with their amounts; what is owed, blocked and unexplained."
    s.ask("recall-period", "recall", "Which months does the quarter in question cover?", [("August to October", "Aug to Oct", "August, September and October", "August through October")], [("July to September", "Jul to Sep", "July through September")])
    s.ask("recall-gap", "recall", "How large is the whole gap, and which side is too high?", [("48,216.40", "48216.40", "48.216,40", "48 216.40"), ("dashboard is too high", "dashboard is higher", "dashboard overstates", "dashboard too high")])
    s.ask("recall-tolerance", "recall", "Below which difference may the search stop, and who set that?", [("250.00", "EUR 250", "250 EUR", "250,00"), ("auditors say", "set by the auditors", "according to the auditors", "auditors")], [("100.00 EUR", "EUR 100.00", "tolerance of 100"), ("take 500.00", "EUR 500.00", "500.00 EUR")])
    s.ask("recall-style", "recall", "Which rules for output and filtering did the user set at the start?", [("two decimals", "2 decimals", "two decimal places"), ("never print customers' e-mail addresses", "no customer e-mail", "no e-mail addresses", "never show e-mail"), ("zz_", "prefix zz_", "beginning with zz_")])
    s.ask("artifact-table", "artifact", "Which table does the dashboard really read?", ["mart.revenue_daily"], ["mart.revenue_day"])
    s.ask("artifact-models", "artifact", "Which model files were changed or made, and what for?", ["models/marts/fct_refunds.sql", "models/staging/stg_voucher_cashout.sql"])
    s.ask("artifact-causes", "artifact", "Which causes were found, each with its amount?", [("31,904.15", "31904.15", "31.904,15"), ("11,870.25", "11870.25", "11.870,25"), "bf_0917", ("3,324.00", "3324.00", "3.324,00")])
    s.ask("decision-fx", "decision", "At the rate of which day are refunds converted, and on whose authority?", [("rate of the order day", "order day's rate", "order-day rate", "fx rate at order day"), ("our accounting rule", "accounting rule", "rule of accounting")], [("converts refunds at the rate of the refund day", "refunds take the rate of the refund day", "use the refund-day rate")])
    s.ask("decision-where", "decision", "Where is the refund repair made and why there, and from which date on and why not earlier?", [("three other reports", "3 other reports", "other reports read the same model"), ("restate from 2026-08-01 only", "from 2026-08-01", "since 2026-08-01", "2026-08-01 onwards", "refund_day >= date '2026-08-01'"), ("signed off by the auditors", "auditors signed", "audited and signed", "signed by the auditors")], [("Yes, patch it", "patch the dashboard query", "I would patch the dashboard")])
    s.ask("continuation-owed", "continuation", "What is promised to whom when the report is ready, and what has to be cleaned up?", [("206 orders", "list of 206", "206 duplicated orders"), ("finance controller", "controller of finance", "controlling"), "scratch.rev_gap_0930"])
    s.ask("continuation-blocked", "continuation", "Why is one month's total provisional, and when does that change?", [("31 October", "October 31", "2026-10-31"), ("on Thursday", "Thursday", "this Thursday"), ("The accountant posts", "posted by the accountant", "accountant")])
    s.ask("continuation-rest", "continuation", "How much of the gap is still unexplained?", [("1,118.00", "1118.00", "1.118,00", "EUR 1,118")], [("4,442.00", "4442.00", "EUR 4,442")])
    return s
