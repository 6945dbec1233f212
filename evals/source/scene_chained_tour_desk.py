"""A travel desk plans a school trip with a teacher; no code at all."""

from noise import told
from scene import Scene

HOUSES = "Old Mill Hostel|Station Rooms|Lakeside Inn|Market Hotel|Tower Guesthouse|Garden Hostel"


def rooms(d, count, extra=()):
    offers = [{"house": d.fill(f"<{HOUSES}>"), "room": d.fill("<single|double|triple|four beds|six beds>"), "nights": 4, "price_night": d.fill("<31-149>.<00|50|90>"), "board": d.fill("<none|breakfast|half board>"), "cancel_until": d.fill("2027-05-<10-31>"), "offer": d.digits(8)} for _ in range(count)]
    offers[count // 2 : count // 2] = list(extra)
    return told({"count": len(offers), "offers": offers, "currency": "EUR", "prices_include_vat": True})


def visits(d, count, extra=()):
    rows = [{"place": d.fill("<Maritime Museum|Glass Works|Old Town Walk|Salt Mine|Zoo|Planetarium|Castle Tour|Print Workshop>"), "language": d.fill("<en|fr|nl|de>"), "day": d.fill("2027-06-<20-23>"), "start": d.fill("<08|09|12|13|17>:<00|15|30|45>"), "minutes": d.number(45, 180), "group_max": d.number(8, 30), "price_head": d.fill("<4-24>.<00|50>"), "slot": d.digits(8)} for _ in range(count)]
    rows[count // 2 : count // 2] = list(extra)
    return told({"count": len(rows), "slots": rows})


def build() -> Scene:
    s = Scene(
        "chained-tour-desk", "chained",
        "A teacher plans a school trip with a travel desk. Head count, dates and lodging change, health needs are named once, refunds and promises stay open, "
        "and the conversation is compacted twice before it ends.",
        call_prefix="toolcall_",
        notes="Contains no code: it shows whether plain facts of people and bookings are kept.",
    )
    d = s.dice
    portal = s.secret("Zt5", "nope", "Portal", "9034mm")
    s.system("You are the group desk of Example Tours. You help group leaders by chat and act through tools. Repeat amounts before you book, never promise what a tool did not confirm, and keep a friendly, plain tone.")
    # First stretch.
    s.user("Hello! I am the teacher who booked the class trip, booking EX-48213. A few things have changed. We are now 14 pupils and 2 adults. And please do everything by e-mail, I cannot take calls before 17:00 because I teach.")
    s.do("Hello, and thank you. I open your booking.", ("find_booking", {"number": "EX-48213"}, told({"number": "EX-48213", "state": "confirmed", "group": {"pupils": 12, "adults": 2}, "from": "2027-06-12", "to": "2027-06-16", "house": "Harbour House", "deposit": {"due": "1,840.00", "paid": "1,840.00", "paid_on": "2026-12-02"}, "board": "half board", "coach": {"company": "Northline", "state": "requested"}, "invoice_to": "traveller", "history": [{"at": d.fill("2026-1<0-2>-<10-28>T<08-17>:<10-59>Z"), "event": d.fill("<quote sent|quote opened|reminder sent|note added|option extended|page viewed>")} for _ in range(14)]})))
    s.say("I see EX-48213: 12 to 16 June 2027, Harbour House, half board, deposit of 1,840.00 EUR paid. I note 14 pupils and 2 adults, and that we write e-mails and never call before 17:00. Is anything else different?")
    s.user("Yes, the dates! The school moved the exam week. We need 19 to 23 June instead. Also one pupil uses a wheelchair, so rooms and ways must be step-free. One has a severe peanut allergy and one is coeliac.")
    s.do("That matters for the house. I check both.",
         ("house_details", {"house": "Harbour House"}, told({"house": "Harbour House", "beds": 88, "lift": False, "step_free_rooms": 0, "kitchen": {"peanut_free": "on request", "gluten_free": "yes"}, "rooms": [{"number": n, "floor": n // 100, "beds": d.number(1, 6), "bath": d.fill("<shared|own>")} for n in range(101, 117)]})),
         ("search_rooms", {"from": "2027-06-19", "to": "2027-06-23", "persons": 16, "step_free": True}, rooms(d, 9, [{"house": "Pine Lodge", "room": "mixed, 16 beds", "nights": 4, "price_night": "38.50", "board": "half board", "step_free": True, "kitchen": "peanut-free on all days, gluten-free on request", "cancel_until": "2027-05-08", "offer": "pl-7714"}])))
    s.say("Harbour House has no lift and no step-free room, so it cannot take your group as it is now. Pine Lodge can: step-free, a kitchen without peanuts on all days, gluten-free on request, 19 to 23 June, 38.50 EUR a night and person, free cancellation until 8 May 2027. Shall I move you there?")
    s.user("A pity, the pupils had voted for Harbour House, but yes, Pine Lodge, because of the wheelchair. By the way the count: one family dropped out, so 13 pupils and 2 adults, 15 in all. That is final, the parents have signed.")
    s.do("", ("change_booking", {"number": "EX-48213", "from": "2027-06-19", "to": "2027-06-23", "house": "Pine Lodge", "offer": "pl-7714", "pupils": 13, "adults": 2}, told({"ok": True, "number": "EX-48213", "house": "Pine Lodge", "persons": 15, "lodging_total": "2,310.00", "needs": ["step-free", "peanut allergy", "coeliac"], "confirmation": "sent by e-mail"})))
    s.say("Done: Pine Lodge, 19 to 23 June, 15 persons, 2,310.00 EUR for four nights with half board. The needs (step-free, peanut allergy, coeliac) are on the booking.")
    s.user("Thank you. The invoice must not go to me: send it to accounts@school.example.org. And I was charged 96.00 EUR twice in December, please look.")
    s.do("",
         ("payments", {"number": "EX-48213"}, told({"payments": [{"date": "2026-12-02", "amount": "1,840.00", "kind": "deposit"}, {"date": "2026-12-02", "amount": "96.00", "kind": "insurance"}, {"date": "2026-12-02", "amount": "96.00", "kind": "insurance"}], "method": "bank transfer", "receipts": [d.digits(10) for _ in range(6)]})),
         ("open_case", {"number": "EX-48213", "kind": "refund", "amount": "96.00"}, told({"case": "C-7719", "state": "with accounting", "answer_within": "10 working days"})),
         ("change_booking", {"number": "EX-48213", "invoice_to": "accounts@school.example.org"}, told({"ok": True})))
    s.say("You are right, the insurance was taken twice. Case C-7719 is open for 96.00 EUR; accounting answers within ten working days, and I will write to you as soon as they do. The invoice goes to accounts@school.example.org.")
    s.user(f"Great. I could not log into the group portal, I typed user class7 password={portal} and it said locked. Can you look?")
    s.do("", ("portal_account", {"user": "class7"}, told({"user": "class7", "state": "locked", "reason": "5 failed logins", "last_password": portal, "unlock": "by link"})))
    s.say("The account was locked after five attempts; an unlock link is on its way to you. Please choose a new password, since this one now stands in our chat, and never send one here again.")
    s.user("Oh, right. One more rule from the school: no swimming and no boats, the insurance excludes water. And every day must end by 21:00 at the lodge. Coach: we want a company with seat belts on every seat and a wheelchair lift. Is Northline like that?")
    s.do("", ("coach_companies", {"from": "2027-06-19", "persons": 15}, told({"companies": [{"name": d.fill("<Westway|Blue Line|Coastal|Meridian|Summit>") + f" {n}", "belts": d.fill("<all seats|front rows>"), "lift": False, "price": d.fill("<1200-2300>.00")} for n in range(1, 9)] + [{"name": "Northline", "belts": "all seats", "lift": False, "price": "1,390.00"}, {"name": "Fairway Coaches", "belts": "all seats", "lift": True, "price": "1,520.00", "option_until": "2027-02-19"}]})))
    s.say("Northline has belts but no lift. Fairway Coaches has both, 1,520.00 EUR, and holds the coach for us until 19 February 2027. I keep in mind: no swimming, no boats, back at the lodge by 21:00.")
    s.user("Then Fairway. But the head teacher has to sign first, wait for my word before you book it.")
    s.say("I wait for your word: the coach of Fairway is only an option until the head teacher has signed, and the option ends on 19 February.")
    s.cut()
    # Second stretch: programme.
    s.user("Now the programme. Sunday should be something indoors, in case of rain.")
    s.do("", ("search_visits", {"day": "2027-06-20", "persons": 15, "indoor": True}, visits(d, 14, [{"place": "Science Barn", "language": "en", "day": "2027-06-20", "start": "10:30", "minutes": 120, "group_max": 16, "price_head": "9.00", "slot": "sb-2201", "step_free": True}])))
    s.say("Science Barn on Sunday at 10:30, two hours, 9.00 EUR each, step-free. Shall I take it?")
    s.user("Yes please.")
    s.do("", ("book_visit", {"slot": "sb-2201", "persons": 15}, told({"ok": True, "visit": "V-3301", "total": "135.00"})))
    s.say("Booked: Science Barn, visit V-3301, 135.00 EUR.")
    s.user("Monday: the salt mine!")
    s.do("", ("place_details", {"place": "Salt Mine"}, told({"place": "Salt Mine", "steps": 212, "lift": False, "min_age": 10, "temperature_c": 9, "notes": [d.fill("<Bring a jacket|Helmets are provided|No pets|Photography allowed|Lockers need a coin|Tour is on foot>") for _ in range(10)]})))
    s.say("The salt mine has 212 steps and no lift, so not everybody of your group could come along.")
    s.user("Right, then no. What about the print workshop?")
    s.do("", ("search_visits", {"day": "2027-06-21", "place": "Print Workshop"}, visits(d, 10, [{"place": "Print Workshop", "language": "en", "day": "2027-06-21", "start": "14:00", "minutes": 150, "group_max": 18, "price_head": "14.50", "slot": "pw-9040", "step_free": True}])))
    s.do("", ("book_visit", {"slot": "pw-9040", "persons": 15}, told({"ok": True, "visit": "V-3302", "total": "217.50"})))
    s.say("Booked: print workshop on Monday at 14:00, V-3302, 217.50 EUR.")
    s.user("Hm, 14:00 collides with the lunch packets. Can it be 15:30?")
    s.do("", ("change_visit", {"visit": "V-3302", "start": "15:30"}, told({"ok": False, "reason": "15:30 is taken", "free": ["09:00", "11:00", "16:15"]})))
    s.say("15:30 is taken; free are 09:00, 11:00 and 16:15.")
    s.user("11:00.")
    s.do("", ("change_visit", {"visit": "V-3302", "start": "11:00"}, told({"ok": True, "visit": "V-3302", "start": "11:00", "total": "217.50"})))
    s.say("V-3302 starts at 11:00 now.")
    s.user("Tuesday they want the castle at night, the torch tour.")
    s.do("", ("search_visits", {"day": "2027-06-22", "place": "Castle Tour"}, visits(d, 12, [{"place": "Castle Tour", "title": "by torchlight", "language": "en", "day": "2027-06-22", "start": "20:30", "minutes": 90, "slot": "ct-1180"}, {"place": "Castle Tour", "title": "knights and kitchens", "language": "en", "day": "2027-06-22", "start": "16:00", "minutes": 90, "price_head": "11.00", "slot": "ct-1174", "step_free": True}])))
    s.say("The torch tour runs from 20:30 to 22:00, which is later than your school allows. The afternoon tour at 16:00 would fit, 11.00 EUR each.")
    s.user("Of course, well spotted. Afternoon tour then.")
    s.do("", ("book_visit", {"slot": "ct-1174", "persons": 15}, told({"ok": True, "visit": "V-3303", "total": "165.00"})))
    s.say("Booked: castle, afternoon tour, V-3303, 165.00 EUR.")
    s.user("Is there some discount for schools on these three?")
    s.do("", ("discounts", {"visits": ["V-3301", "V-3302", "V-3303"]}, told({"rules": [{"name": d.fill("<early bird|family|senior|group|season|local>") + f" {n}", "applies": False, "reason": d.fill("<not in season|too few persons|only on site|residents only>")} for n in range(12)] + [{"name": "school, three visits", "applies": True, "percent": 10, "needs": "letter of the school", "until": "2027-04-30"}]})))
    s.say("Yes: 10 % on all three visits if we send a letter of the school by 30 April 2027.")
    s.user("I will get the letter and send it to you. Remind me in the middle of April if I have not.")
    s.say("I will remind you in the middle of April.")
    s.cut()
    # Third stretch: meals, weather, papers.
    s.user("Next: meals. Can we have packed lunches on Sunday to Tuesday?")
    s.do("", ("meal_options", {"number": "EX-48213"}, told({"options": [{"name": d.fill("<packed lunch|barbecue|late supper|fruit basket|pizza evening|pancake breakfast>"), "day": d.fill("<Sunday|Monday|Tuesday|arrival day|last day>"), "price_head": d.fill("<3-14>.<00|50>"), "order_until": d.fill("2027-06-<10-17>")} for _ in range(18)]})))
    s.do("", ("order_meals", {"number": "EX-48213", "what": "packed lunch", "days": ["2027-06-20", "2027-06-21", "2027-06-22"], "persons": 15}, told({"ok": True, "order": "M-118", "total": "292.50"})))
    s.say("Ordered: packed lunches for three days, M-118, 292.50 EUR, with the dietary needs of the booking.")
    s.user("What will the weather be like usually?")
    s.do("", ("climate", {"place": "region of the booking", "month": 6}, told({"month": "June", "days": [{"day": n, "mean_c": d.number(15, 21), "max_c": d.number(19, 27), "rain_mm": d.number(0, 9), "sun_h": d.number(4, 11)} for n in range(1, 29, 2)]})))
    s.say("Around 18 °C on average, up to 26 °C, rain on every third day or so. A rain jacket should be on the packing list.")
    s.user("Could you draft the packing list for the parents? Short.")
    s.say("Packing list: rain jacket, stout shoes, indoor shoes, towel, refillable bottle, medicines with the doctor's note, pocket money up to 30 EUR, no phones in the dormitories.")
    s.user("Add bed linen or do they have it?")
    s.do("", ("house_rules", {"number": "EX-48213"}, told({"linen": "included", "towels": "bring your own", "quiet_hours": "22:00 to 06:30", "rules": [d.fill("<No food in rooms|Shoes off upstairs|Lights out by leaders|Keys at the desk|Fire drill on arrival|Bikes in the shed>") for _ in range(16)]})))
    s.say("Linen is included, towels are not. The list stays as it is.")
    s.user("Some parents ask what happens if a child falls ill during the trip.")
    s.do("", ("policy", {"topic": "illness during a group trip"}, told({"sections": [{"title": d.fill("<Scope|Duties of leaders|Costs|Transport|Contacts|Insurance|Records|Refunds>") + f" {n}", "text": d.fill("<The leader informs the desk|Costs are borne by the insurer|A companion stays with the child|The desk arranges transport|Unused nights are not refunded>, <see the conditions|subject to proof|within two days|as far as possible>.")} for n in range(12)]})))
    s.say("In short: one adult stays with the child, we arrange the transport home, the insurer bears the cost, unused nights are not refunded.")
    s.user("With two adults that is tight. Can a third adult join later, only if needed?")
    s.do("", ("search_rooms", {"same_dates_as": "EX-48213", "persons": 1}, rooms(d, 10)))
    s.say("There is space at the moment, but no house holds a bed without booking it. I would not count on it.")
    s.user("Fine. What is the total now, without the coach?")
    s.do("", ("quote", {"number": "EX-48213", "without": ["coach"]}, told({"items": [{"what": "lodging", "amount": "2,310.00"}, {"what": "visits", "amount": "517.50"}, {"what": "meals", "amount": "292.50"}, {"what": "insurance", "amount": "96.00"}], "total": "3,216.00", "paid": "1,936.00", "open": "1,280.00", "discounts_pending": True})))
    s.say("3,216.00 EUR without the coach, of which 1,280.00 EUR are open.")
    s.user("And the arrival: which door, and who lets us in?")
    s.do("", ("house_arrival", {"number": "EX-48213"}, told({"desk_hours": "07:00 to 20:00", "door": "east side, ramp", "parking": "one coach, behind the house", "steps": [d.fill("<Ring at the east door|Show the booking number|Hand in the list of names|Collect the room cards|Sign the fire drill sheet|Hand in medicines for the fridge|Pay the city tax>") for _ in range(14)]})))
    s.say("East side, there is a ramp. The desk is open from 07:00 to 20:00; please bring a list of names.")
    s.user("City tax? Is that on top?")
    s.do("", ("policy", {"topic": "city tax"}, told({"sections": [{"title": d.fill("<Rates|Exemptions|Schools|Proof|Payment|Rounding>") + f" {n}", "text": d.fill("<Pupils under 18 are exempt|Leaders of school groups are exempt|Proof is the list of names|The tax is collected by the house|The rate is set each year>, <see the leaflet|by decree|as of January|without exception>.")} for n in range(14)]})))
    s.say("Pupils and the leaders of school groups are exempt; the list of names is the proof. So nothing on top.")
    s.user("One mother asks whether her son may bring his guinea pig.")
    s.say("I am afraid not: the house takes no pets.")
    s.user("I thought so. Is there a room where we can meet in the evening?")
    s.do("", ("house_rooms", {"number": "EX-48213", "kind": "common"}, told({"rooms": [{"name": d.fill("<Birch|Oak|Fir|Maple|Elm|Cedar> room"), "seats": d.number(8, 60), "projector": d.fill("<yes|no>"), "free": [d.fill("<17|18|19>:<00|30>") for _ in range(4)], "price": d.fill("<0|15|25|40>.00")} for _ in range(14)]})))
    s.do("", ("reserve_room", {"number": "EX-48213", "room": "Fir room", "evenings": 4, "from": "19:00"}, told({"ok": True, "reservation": "R-52", "price": "0.00"})))
    s.say("The Fir room is yours from 19:00 on all four evenings, R-52, free of charge.")
    s.user("Lovely. Which trains would the third adult take, just in case?")
    s.do("", ("timetable", {"day": "Monday", "to": "lodge"}, told({"connections": [{"leave": d.fill("<06-20>:<10-59>"), "arrive": d.fill("<09-23>:<10-59>"), "changes": d.number(0, 3), "train": d.fill("<RE|IC|RB> <100-999>"), "price": d.fill("<19-79>.<00|90>")} for _ in range(16)]})))
    s.say("There is a train every hour, two and a half hours with one change, from about 20 EUR.")
    s.user("Good. Please send me the whole plan, day by day, later today. And tell me what you are still waiting for from me.")

    s.bank_description = "People, dates, needs and rules of the group after all changes, and what is open between the teacher, the school and the desk. Most of it was said before the first cut and never again."
    s.ask("recall-group", "recall", "How many people travel, and when?", [("13 pupils and 2 adults", "15 in all", "15 persons", "13 pupils"), ("19 to 23 June", "19-23 June", "June 19 to 23", "2027-06-19")], [("14 pupils and 2 adults", "14 pupils", "16 persons"), ("12 to 16 June", "12-16 June", "June 12 to 16", "2027-06-12")])
    s.ask("recall-needs", "recall", "Which health and access needs does the group have?", [("wheelchair", "wheelchair user", "in a wheelchair"), ("peanut allergy", "allergic to peanuts", "allergy to peanuts"), ("coeliac", "celiac", "coeliac disease")])
    s.ask("recall-contact", "recall", "How does the teacher want to be reached, and where does the invoice go?", [("by e-mail", "via e-mail", "by email"), ("before 17:00", "not before 17:00", "until 17:00"), "accounts@school.example.org"], [("\"invoice_to\": \"traveller\"", "invoice goes to the teacher", "invoice to the traveller")])
    s.ask("recall-school-rules", "recall", "Which rules of the school limit the programme?", [("no boats", "no swimming and no boats", "boats are excluded"), ("no swimming", "swimming is excluded", "swimming not allowed"), ("by 21:00", "until 21:00", "before 21:00")])
    s.ask("artifact-visits", "artifact", "Which visits are booked, under which numbers?", ["V-3301", "V-3302", "V-3303", ("Science Barn", "the Science Barn", "Barn of Science")], [("the salt mine!", "salt mine is booked", "visit to the salt mine")])
    s.ask("artifact-workshop-time", "artifact", "At what time does Monday's workshop start?", [("V-3302 starts at 11:00", "starts at 11:00", "start\": \"11:00", "at 11:00", "moved to 11:00", "11:00 now")], [("on Monday at 14:00", "starts at 14:00", "workshop at 14:00"), ("Can it be 15:30", "starts at 15:30", "workshop at 15:30")])
    s.ask("decision-house", "decision", "Where does the group stay, and why was the first house given up?", [("Pine Lodge", "the Pine Lodge", "Lodge Pine"), ("no step-free room", "not step-free", "step_free_rooms\": 0", "because of the wheelchair")], [("Harbour House, half board", "stays at Harbour House", "lodging is Harbour House")])
    s.ask("decision-coach", "decision", "Which coach company is wanted and why not the one asked first?", [("Fairway Coaches", "Fairway", "coach of Fairway"), ("belts but no lift", "without a wheelchair lift", "has no wheelchair lift", "no lift for wheelchairs")], [("company\": \"Northline", "coach from Northline", "Northline is booked")])
    s.ask("decision-tour", "decision", "Why was the torch tour of the castle not taken, and what was taken instead?", [("later than your school allows", "ends at 22:00", "20:30 to 22:00", "too late"), ("afternoon tour", "tour at 16:00", "tour in the afternoon")])
    s.ask("continuation-coach", "continuation", "What is the coach booking waiting for, and until when is it held?", [("head teacher", "headteacher", "head of the school"), ("19 February", "February 19", "2027-02-19")])
    s.ask("continuation-refund", "continuation", "Which refund is open, for how much, and what did the desk promise?", ["C-7719", ("96.00", "96 EUR", "EUR 96"), ("I will write to you", "write to the teacher", "inform the teacher", "let the teacher know")])
    s.ask("continuation-discount", "continuation", "What is needed for the discount on visits, by when, and what must the desk do?", [("letter of the school", "school's letter", "letter from the school"), ("30 April", "April 30", "2027-04-30"), ("middle of April", "mid-April", "mid April")])
    return s
