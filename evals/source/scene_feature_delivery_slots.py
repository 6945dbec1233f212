"""A Go service learns to book delivery slots; the user writes Russian."""

from noise import numbered
from noise import psql
from noise import told
from noise import weave
from scene import Scene

BOOKING = """
package slots

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrFull is returned when a zone has no capacity left in a slot.
var ErrFull = errors.New("slot is full")

// Store reads and books delivery slots.
type Store struct {
	pool *pgxpool.Pool
	now  func() time.Time
}

// Free lists the slots of a zone between two instants that still have capacity.
func (s *Store) Free(ctx context.Context, zone string, from, to time.Time) ([]Slot, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT s.id, s.starts_at, s.ends_at, s.capacity - count(b.id) AS places_left
		FROM slots s LEFT JOIN bookings b ON b.slot_id = s.id AND b.cancelled_at IS NULL
		WHERE s.zone_code = $1 AND s.starts_at >= $2 AND s.starts_at < $3
		GROUP BY s.id HAVING s.capacity > count(b.id)
		ORDER BY s.starts_at`, zone, from, to)
	if err != nil {
		return nil, fmt.Errorf("list free slots: %w", err)
	}
	defer rows.Close()
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Slot])
}

// Book takes one place in a slot for an order. Booking the same order twice returns the first booking.
func (s *Store) Book(ctx context.Context, slot int64, order string) (Booking, error) {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return Booking{}, err
	}
	defer tx.Rollback(ctx)
	// TAKE THE LOCK HERE
	var left int
	if err := tx.QueryRow(ctx, leftQuery, slot).Scan(&left); err != nil {
		return Booking{}, err
	}
	if left <= 0 {
		return Booking{}, ErrFull
	}
	booking, err := insertBooking(ctx, tx, slot, order, s.now())
	if err != nil {
		return Booking{}, err
	}
	return booking, tx.Commit(ctx)
}
"""

HANDLER = """
package api

import (
	"encoding/json"
	"net/http"

	"example.org/slotd/internal/slots"
)

type bookRequest struct {
	SlotID  int64  `json:"slot_id"`
	OrderID string `json:"order_id"`
}

func (a *API) routes() {
	a.mux.HandleFunc("GET /v1/zones/{zone}/slots", a.listSlots)
	a.mux.HandleFunc("POST /v1/bookings", a.book)
	a.mux.HandleFunc("DELETE /v1/bookings/{id}", a.cancel)
	a.mux.HandleFunc("GET /healthz", a.health)
}

func (a *API) book(w http.ResponseWriter, r *http.Request) {
	var request bookRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&request); err != nil {
		a.fail(w, http.StatusBadRequest, "body is not a booking request")
		return
	}
	booking, err := a.slots.Book(r.Context(), request.SlotID, request.OrderID)
	switch {
	case errors.Is(err, slots.ErrFull):
		a.fail(w, http.StatusConflict, "slot is full")
	case err != nil:
		a.log.Error("book", "order", request.OrderID, "error", err)
		a.fail(w, http.StatusInternalServerError, "booking failed")
	default:
		a.answer(w, http.StatusCreated, booking)
	}
}
"""


def go_test(dice, count, package, facts=(), at=0.6):
    lines = dice.lines(count, [
        f"ok  \texample.org/slotd/internal/<geo|price|clock|audit|notify>\t0.<010-990>s",
        "=== RUN   Test<Quote|Zone|Route|Courier|Refund|Window>_<Empty|Single|Boundary|Unicode|Large|Concurrent>",
        "--- PASS: Test<Quote|Zone|Route|Courier|Refund|Window>_<Empty|Single|Boundary|Unicode|Large|Concurrent> (0.<01-99>s)",
        "    --- PASS: TestTable/<north|south|east|west|centre>_<weekday|weekend|holiday>_<00-23>h (0.0<0-9>s)",
        "time=2026-03-<02-27>T<08-22>:<10-59>:<10-59>Z level=INFO msg=\"zone cache refreshed\" zones=<12-48> took=<2-40>ms",
        "time=2026-03-<02-27>T<08-22>:<10-59>:<10-59>Z level=DEBUG msg=acquire pool=<1-8> wait=<0-9>.<100-999>ms",
    ])
    return weave(lines, *facts, at=at)


def build() -> Scene:
    s = Scene(
        "feature-delivery-slots", "feature",
        "A Go delivery service gets bookable time slots. The user writes Russian. The locking decision is reversed once, the "
        "staging port changes twice, a migration is renumbered, and several duties from the first half stay open.",
        call_prefix="toolu_",
    )
    d = s.dice
    password = s.secret("hQ4", "nope", "Stend", "7719xx")
    bearer = s.secret("nope4471", "slotd1111", "aaaa2222bbbb3333cccc")
    s.system("You are a coding assistant with access to a terminal, file editing and search tools. Answer in the language of the user. Report briefly what you did and what is left.")
    s.user("""Привет. Делаем в сервисе slotd бронирование слотов доставки: клиент выбирает зону и интервал, мы держим место. Репозиторий в ~/work/slotd, Go 1.23, Postgres 16.
Правила, они действуют до конца работы:
1. В main не пушить никогда, только в ветку feature/slot-booking.
2. Схему менять только миграциями goose, руками SQL на стенде не запускать (читать можно).
3. Комментарии в коде и сообщения коммитов на английском.
Стенд: stage-2.example.org, порт 8080. Начни с осмотра.""")
    s.do("Осматриваюсь: структура, миграции, как сейчас устроено хранение.",
         ("terminal", {"command": "cd ~/work/slotd && git status -sb && git log --oneline | head -12 && ls migrations"},
          "## main...origin/main\n" + "\n".join(d.lines(12, ["<#7> <api|geo|price|notify|courier>: <fix|tidy|speed up|document|test> <zone lookup|retry on timeout|quota rounding|courier shift import|audit rows>"])) + "\n"
          + "\n".join(f"00{n:02d}_{name}.sql" for n, name in enumerate("init zones couriers orders order_status audit zone_polygons price_rules price_index couriers_phone notify_outbox notify_index refunds refunds_reason orders_partition orders_default courier_device audit_ttl zone_holidays zone_aliases price_night orders_comment courier_rating notify_lang audit_actor order_weight order_volume zone_priority courier_zone price_weekend order_source notify_retry audit_index refunds_index zone_timezone courier_shift_plan order_eta price_cache notify_dead zone_capacity_hint courier_shift".split(), 1))),
         ("search_files", {"pattern": "capacity|timezone|Zone", "path": "~/work/slotd/internal", "limit": 40},
          "\n".join(sorted(d.lines(34, ["internal/<geo|price|courier|orders>/<store|model|cache|import>.go:<10-480>:\t<zone|z|item>.<Code|Timezone|Priority|Holidays>,", "internal/<geo|price|courier|orders>/<store|model|cache|import>_test.go:<10-480>:\t{name: \"<empty|dst|holiday|overlap>\", zone: \"<N|S|E|W><1-9>\"},"])))))
    s.say("Картина такая: последняя миграция 0041_courier_shift.sql, зоны лежат в таблице zones, у каждой есть timezone. Слотов и броней нет. Предлагаю пакет internal/slots, миграцию с таблицами slots и bookings и три маршрута в internal/api.\n\nВопрос: какой длины слот и что делаем, если курьер опаздывает?")
    s.user("Слот 30 минут. По опозданиям пока не знаю: спрошу у продукта, что делать с бронью, если курьер опаздывает больше чем на 90 минут. Не придумывай сам, вопрос открыт, напомни мне про него перед выкладкой.")
    s.do("Записал. Смотрю доступ к стенду.",
         ("terminal", {"command": "curl -sS -m 5 http://stage-2.example.org:8080/healthz"}, "curl: (7) Failed to connect to stage-2.example.org port 8080 after 21 ms: Connection refused\n[exit code 7]"))
    s.say("На 8080 никто не слушает: connection refused.")
    s.user(f"А, порт поменяли на 9443, попробуй его. База для чтения: postgres://slot_ro:{password}@stage-2.example.org:5432/slots")
    s.do("",
         ("terminal", {"command": "curl -sS -m 5 https://stage-2.example.org:9443/healthz"}, "curl: (35) TLS connect error: error:0A00010B:SSL routines::wrong version number\n[exit code 35]"),
         ("terminal", {"command": "psql \"$STAGE_RO\" -c '\\dt' -c 'select count(*) from zones'"},
          f"psql: using postgres://slot_ro:{password}@stage-2.example.org:5432/slots\nERROR:  relation \"zones\" does not exist\nLINE 1: select count(*) from zones\n                             ^\n[exit code 1]"))
    s.say("База отвечает, но relation \"zones\" does not exist: похоже, таблицы лежат не в public. И на 9443 не TLS.")
    s.user("Стоп, я ошибся: 9443 это метрики. API стенда на порту 8443, теперь точно. А таблицы в схеме delivery, выставь search_path.")
    s.do("",
         ("terminal", {"command": "curl -sS -m 5 https://stage-2.example.org:8443/healthz -H 'Authorization: Bearer " + bearer + "'"}, told({"status": "ok", "version": "2.18.4", "zones": 37, "uptime_s": 402113})),
         ("terminal", {"command": "PGOPTIONS='-c search_path=delivery' psql \"$STAGE_RO\" -c 'select code, timezone, priority from zones order by 1 limit 20'"},
          psql([["code", "timezone", "priority"], *[[d.fill("<N|S|E|W><10-99>"), d.pick(["Europe/Moscow", "Asia/Yekaterinburg", "Asia/Novosibirsk", "Europe/Samara"]), d.fill("<1-9>")] for _ in range(20)]])))
    s.say("Работает: search_path=delivery решил проблему с zones, API на новом порту отвечает. Дальше схема. По блокировке при бронировании есть три пути: Redis-замок, колонка version или advisory lock в Postgres. Я бы взял Redis-замок, он уже есть в проекте.")
    s.user("Давай Redis-замок. И слот всё-таки 45 минут: маршруты курьеров считаются кратно 15 минутам, а в 30 они не укладываются вместе с подъёмом на этаж.")
    s.do("Длина слота 45 минут, пишу миграцию.",
         ("write_file", {"path": "migrations/0041_delivery_slots.sql", "content": "-- +goose Up\nCREATE TABLE slots (\n  id bigserial PRIMARY KEY,\n  zone_code text NOT NULL REFERENCES zones(code),\n  starts_at timestamptz NOT NULL,\n  ends_at timestamptz NOT NULL,\n  capacity int NOT NULL CHECK (capacity >= 0),\n  UNIQUE (zone_code, starts_at)\n);\nCREATE TABLE bookings (\n  id uuid PRIMARY KEY,\n  slot_id bigint NOT NULL REFERENCES slots(id),\n  order_id text NOT NULL UNIQUE,\n  created_at timestamptz NOT NULL,\n  cancelled_at timestamptz\n);\n-- +goose Down\nDROP TABLE bookings;\nDROP TABLE slots;\n"}, "wrote 21 lines"),
         ("terminal", {"command": "cd ~/work/slotd && git switch -c feature/slot-booking && make migrate-check 2>&1"},
          weave(d.lines(26, ["goose: <applied|checked> 00<01-40>_<zones|orders|audit|notify|refunds|price_rules>.sql (<3-90>ms)", "docker: <pulling|waiting for|started> postgres:16-alpine <#12>"]), "goose: FATAL duplicate version 41: migrations/0041_courier_shift.sql and migrations/0041_delivery_slots.sql", "make: *** [Makefile:61: migrate-check] Error 1", at=0.9)))
    s.do("Номер 41 занят, переименовываю в 0042.",
         ("terminal", {"command": "cd ~/work/slotd && git mv -f migrations/0041_delivery_slots.sql migrations/0042_delivery_slots.sql 2>/dev/null || mv migrations/0041_delivery_slots.sql migrations/0042_delivery_slots.sql; make migrate-check 2>&1 | tail -4"},
          "goose: applied 0041_courier_shift.sql (11ms)\ngoose: applied 0042_delivery_slots.sql (14ms)\ngoose: down to 0, ok\nmigrate-check: ok"),
         ("write_file", {"path": "internal/slots/booking.go", "content": BOOKING.strip()}, f"wrote {len(BOOKING.strip().splitlines())} lines"))
    s.say("Миграция 0042 проходит туда и обратно, заготовка хранилища написана. Дальше замок.")
    s.user("По Redis отбой. Дежурный админ говорит, что на проде Redis без репликации и его перезапускают ночью: замок потеряется, и продадим одно место дважды. Делай pg_advisory_xact_lock по id слота.")
    s.do("Понял: advisory lock в транзакции, Redis не трогаю.",
         ("patch", {"path": "internal/slots/booking.go", "old": "\t// TAKE THE LOCK HERE", "new": "\t// One booking per slot at a time; the lock goes away with the transaction.\n\tif _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, slot); err != nil {\n\t\treturn Booking{}, fmt.Errorf(\"lock slot: %w\", err)\n\t}"}, "1 replacement"),
         ("terminal", {"command": "cd ~/work/slotd && SLOTS_DEBUG_SEED=1 go test ./internal/slots/... 2>&1"},
          go_test(d, 18, "slots", ["--- FAIL: TestReserve_AcrossMidnight (0.31s)", "    booking_test.go:118: zone E14 (Asia/Yekaterinburg): slot starting 23:45 ends on the wrong day, got 2026-03-14, want 2026-03-15", "FAIL\texample.org/slotd/internal/slots\t1.904s"])))
    s.do("Фиксирую сделанное в ветке.", ("terminal", {"command": "cd ~/work/slotd && git add -A && git commit -qm 'slots: tables, store and lock' && git log --oneline -2"}, "a90be13 slots: tables, store and lock\n" + d.fill("<#7> courier: document courier shift import")))
    s.say("Блокировка на месте. Один тест падает: TestReserve_AcrossMidnight, слот через полночь в зоне E14 кончается не тем днём. Это не из-за замка, похоже на расчёт ends_at в UTC вместо зоны. Пока откладываю, вернусь к нему после обработчиков.\n\nДля тестов я ввёл временный флаг SLOTS_DEBUG_SEED. Обещаю убрать его до открытия PR.")
    s.user("Хорошо. Ещё: ёмкости zone_quota я взял с потолка (12 на зону), до мержа их должен подтвердить логист смены. Без его подтверждения не мержим.")
    s.say("Принято: мерж ждёт подтверждения zone_quota от логиста смены. Перехожу к HTTP.")
    # The newer half: handlers, tests, load; none of the facts above is said again.
    s.do("",
         ("read_file", {"path": "internal/api/api.go"}, numbered("package api\n\nimport (\n\t\"log/slog\"\n\t\"net/http\"\n)\n\n" + "\n\n".join(f"// {name} answers {verb} {path}.\nfunc (a *API) {name}(w http.ResponseWriter, r *http.Request) {{\n\tvalue, err := a.{field}.{call}(r.Context(), r.PathValue(\"id\"))\n\tif err != nil {{\n\t\ta.log.Error(\"{name}\", \"error\", err)\n\t\ta.fail(w, http.StatusInternalServerError, \"{name} failed\")\n\t\treturn\n\t}}\n\ta.answer(w, http.StatusOK, value)\n}}" for name, verb, path, field, call in [("order", "GET", "/v1/orders/{id}", "orders", "Find"), ("courier", "GET", "/v1/couriers/{id}", "couriers", "Find"), ("refund", "POST", "/v1/refunds", "refunds", "Open"), ("quote", "GET", "/v1/quotes/{id}", "prices", "Quote"), ("zone", "GET", "/v1/zones/{id}", "zones", "Find")]))))
    s.do("Добавляю обработчики брони.",
         ("write_file", {"path": "internal/api/bookings.go", "content": HANDLER.strip()}, f"wrote {len(HANDLER.strip().splitlines())} lines"),
         ("terminal", {"command": "cd ~/work/slotd && go vet ./... && go build ./..."}, "# example.org/slotd/internal/api\ninternal/api/bookings.go:32:7: undefined: errors\n[exit code 1]"))
    s.do("Забыл импорт errors.",
         ("patch", {"path": "internal/api/bookings.go", "old": "\t\"encoding/json\"\n", "new": "\t\"encoding/json\"\n\t\"errors\"\n"}, "1 replacement"),
         ("terminal", {"command": "cd ~/work/slotd && go vet ./... && go test ./internal/api/... -v 2>&1"}, go_test(d, 52, "api", ["--- PASS: TestBook_Conflict409 (0.02s)", "--- PASS: TestBook_SameOrderTwice (0.03s)"])))
    s.say("Обработчики собрались, тесты API зелёные, повторная бронь того же заказа возвращает первую.")
    s.user("Ок. Ответ 409 должен нести код slot_full в теле, мобильщики ждут именно его. И добавь метрику.")
    s.do("",
         ("patch", {"path": "internal/api/bookings.go", "old": "a.fail(w, http.StatusConflict, \"slot is full\")", "new": "a.failCode(w, http.StatusConflict, \"slot_full\")\n\t\tbookingsRefused.Inc()"}, "1 replacement"),
         ("terminal", {"command": "cd ~/work/slotd && go test ./internal/api/... ./internal/metrics/... -v 2>&1"}, go_test(d, 46, "metrics", ["--- PASS: TestMetrics_BookingsRefusedTotal (0.01s)"])))
    s.do("Теперь нагрузка локально: пятьдесят клиентов на один слот.",
         ("terminal", {"command": "cd ~/work/slotd && go run ./cmd/bookstorm -clients 50 -slot 17 -for 20s"},
          weave(d.log(58, "2026-03-18T10:02:11", (90, 420), ["worker=<1-50> status=<201|409|409|409> took=<3-48>ms", "worker=<1-50> status=409 took=<2-30>ms body=slot_full", "pool idle=<0-6> used=<2-16> waiting=<0-22>"]), "SUMMARY requests=41822 created=12 refused=41810 errors=0 p50=6ms p99=41ms oversold=0", at=0.97)))
    s.say("Под нагрузкой: 41 822 запроса, создано ровно 12 броней, перепродаж ноль, p99 41 мс. Метрика bookings_refused_total на месте.")
    s.user("Теперь отмена брони, DELETE. Место должно освобождаться сразу.")
    s.do("", ("search_files", {"pattern": "cancelled_at", "path": "~/work/slotd"}, "internal/orders/cancel.go:41:\tcancelled_at = $2\ninternal/orders/cancel_test.go:77:\twant: \"cancelled_at\"\ninternal/refunds/store.go:112:\tWHERE cancelled_at IS NULL"))
    s.do("", ("patch", {"path": "internal/api/cancel.go", "old": "", "new": "package api\n\n// cancel frees a place at once; cancelling twice is not an error.\nfunc (a *API) cancel(w http.ResponseWriter, r *http.Request) {\n\tif err := a.slots.Cancel(r.Context(), r.PathValue(\"id\")); err != nil {\n\t\ta.fail(w, http.StatusInternalServerError, \"cancel failed\")\n\t\treturn\n\t}\n\tw.WriteHeader(http.StatusNoContent)\n}\n"}, "created, 10 lines"))
    s.do("", ("terminal", {"command": "cd ~/work/slotd && go test ./internal/api/... -run Cancel -v 2>&1 | tail -8"}, go_test(d, 7, "api", ["--- PASS: TestCancel_FreesPlace (0.04s)", "--- PASS: TestCancel_Twice (0.02s)"])))
    s.say("Отмена готова: место освобождается в той же транзакции, повторная отмена не ошибка.")
    s.user("Обнови openapi.yaml, только эти два маршрута.")
    s.do("", ("terminal", {"command": "cd ~/work/slotd && python3 tools/openapi_diff.py"}, "openapi.yaml: +2 paths, +3 schemas, 0 removed\nspectral: 0 errors, 4 warnings (operation-tags, old)"))
    s.say("Спецификация обновлена, удалений нет.")
    s.user("Отлично. Закоммить в ветку и покажи diff --stat. Потом займись тем, что осталось.")
    s.do("",
         ("terminal", {"command": "cd ~/work/slotd && git add -A && git commit -qm 'slots: book delivery slots over HTTP' && git show --stat HEAD"},
          "commit 5c1e09a77be4\nAuthor: agent <agent@example.org>\n\n    slots: book delivery slots over HTTP\n\n internal/api/api.go           |  4 +\n internal/api/bookings.go      | 47 ++++++++++\n internal/api/bookings_test.go | 88 ++++++++++++++++++\n internal/api/cancel.go        | 10 ++\n openapi.yaml                  | 96 ++++++++++++++++++++\n internal/metrics/metrics.go   |  6 ++\n internal/slots/model.go       | 22 +++++\n cmd/bookstorm/main.go         | 71 +++++++++++++++\n 8 files changed, 344 insertions(+)"),
         ("terminal", {"command": "cd ~/work/slotd && golangci-lint run ./... 2>&1"}, "\n".join(d.lines(30, ["internal/<geo|price|orders|notify>/<store|cache|import>.go:<12-400>:<2-40>: <line-length|shadow|prealloc|errcheck|revive>: <value is never used|consider preallocating|declaration shadows an outer one|exported symbol has no comment> (<warning|info>)"]))))
    s.say("Коммит в ветке. Предупреждения линтера все старые, мои файлы чистые. Перехожу к остатку.")

    s.bank_description = "What a colleague needs to finish the slot booking: rules, the port and lock that hold now, the renumbered migration, and four duties that were set early and never done."
    s.ask("recall-staging-port", "recall", "On which port does the API of the staging host answer now?", [("8443", "порту 8443", "port 8443")], [("порт 8080", "port 8080", ":8080"), ("порт поменяли на 9443", "port 9443", ":9443")])
    s.ask("recall-schema", "recall", "In which database schema do the tables on staging live, and how is a query pointed at it?", [("схеме delivery", "search_path=delivery", "schema delivery", "delivery schema")])
    s.ask("recall-slot-length", "recall", "How long is a delivery slot, and what is the reason for that length?", [("45 минут", "45 minutes", "45-minute", "45 min"), ("кратно 15 минутам", "multiples of 15", "15 минутам", "15-minute")], [("Слот 30 минут", "slot is 30 minutes", "30-minute slot", "slot length 30")])
    s.ask("artifact-migration", "artifact", "Which migration file creates the tables for slots and bookings?", ["migrations/0042_delivery_slots.sql"], [("migrations/0041_delivery_slots.sql",)])
    s.ask("artifact-code", "artifact", "Which source files hold the booking logic and the new HTTP endpoints?", ["internal/slots/booking.go", "internal/api/bookings.go"])
    s.ask("artifact-refusal", "artifact", "What does a client get in the body when a slot has no place left, and which counter counts that?", ["slot_full", ("bookings_refused_total", "bookingsRefused", "BookingsRefusedTotal")])
    s.ask("decision-lock", "decision", "How are two bookings of the last place kept apart, what was chosen before, and why was that dropped?", ["pg_advisory_xact_lock", ("Redis без репликации", "Redis has no replication", "Redis is not replicated", "Redis without replication"), ("его перезапускают ночью", "restarted at night", "restarted nightly", "перезапускается ночью")], [("Давай Redis-замок", "use a Redis lock", "Redis lock was chosen")])
    s.ask("continuation-failing-test", "continuation", "Which test was put off and still fails, and what is the suspected cause?", ["TestReserve_AcrossMidnight", ("ends_at в UTC вместо зоны", "ends_at in UTC", "ends_at computed in UTC", "UTC instead of the zone")])
    s.ask("continuation-before-pr", "continuation", "What did the assistant promise to take out before the pull request is opened?", ["SLOTS_DEBUG_SEED"])
    s.ask("continuation-merge-gate", "continuation", "Who must confirm what before the branch may be merged?", [("логист смены", "логиста смены", "shift logistician", "логистом смены"), "zone_quota"])
    s.ask("continuation-open-question", "continuation", "Which product question is still without an answer, and when must the user be reminded of it?", [("больше чем на 90 минут", "more than 90 minutes", "90 минут", "over 90 minutes"), ("перед выкладкой", "before the release", "before deployment", "before rollout", "до выкладки")])
    s.ask("decision-rules", "decision", "Which rules did the user set for the branch and for changes of the database schema?", ["feature/slot-booking", ("main не пушить", "never push to main", "не пушить в main", "no pushes to main"), ("миграциями goose", "goose migrations", "через goose", "only through goose")])
    return s
