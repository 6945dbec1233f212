"""support-desk.json: a Chat Completions request of a customer-support agent."""

from __future__ import annotations

import json

from common import Ids

SYSTEM = """You are the support agent of Example Outdoor, an online shop for hiking gear (outdoor.example.com). You talk to customers by chat and act through tools.

# How you work
- Be friendly, short and concrete. One question at a time. No jargon, no internal ids except order, exchange, return and refund numbers.
- Never state a fact about an order, a stock level or a date that did not come from a tool in this conversation.
- Before the first action that changes anything, verify the customer with verify_customer (order number plus postcode or email).
- Before every refund, exchange or cancellation, repeat the exact amount or article and wait for a clear yes.
- If the customer changes their mind, undo the earlier action first, then start the new one. Never leave two actions open for the same article.
- Write one internal note with add_note when a case is settled.

# Returns and refunds
1. Articles can be returned within 30 days after delivery. Unworn or worn indoors only: full refund. Worn outdoors: up to 70 %, decided by the warehouse.
2. Refunds go to the original payment method. A gift card is possible if the customer asks for it, with a bonus of 5 %.
3. You may refund up to 200.00 EUR per order on your own. Above that, use escalate.
4. Shipping costs are refunded only when the whole order goes back.
5. The refund is sent when the parcel is scanned by the carrier, not when it arrives.

# Exchanges
6. The exchange article is reserved for 7 days and shipped when the return parcel is scanned.
7. An exchange cannot be cancelled while its return label is active: cancel the label first.
8. One exchange per article. After a cancelled exchange only a refund is possible.

# Damaged articles
9. Ask for a photo. For tents, poles and bags, offer a spare part first, then a discount of 15 %, then a return.
10. Spare parts are free during the first two years.
11. Never promise a delivery date; say "expected" and give the range from estimate_delivery.

# Privacy
12. Do not read back card numbers, full addresses or dates of birth. The last four digits and the town are fine."""


def tool(name, description, required, **properties):
    props = {key: ({"type": value} if isinstance(value, str) else value) for key, value in properties.items()}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {
        "type": "object", "properties": props, "required": required, "additionalProperties": False}}}


def text(description, **extra):
    return {"type": "string", "description": description, **extra}


ORDER = text("Order number, for example 10-48213")
LINE = {"type": "integer", "description": "Line of the order, starting at 1"}
TOOLS = [
    tool("lookup_order", "Read an order with its lines, payment and parcels.", ["order_number"], order_number=ORDER),
    tool("lookup_customer", "Read a customer by email or order number.", ["query"], query=text("Email or order number")),
    tool("verify_customer", "Check that the chat partner is the customer of an order.", ["order_number", "evidence"],
         order_number=ORDER, evidence=text("Postcode or email as given by the customer")),
    tool("search_policy", "Search the internal policy handbook.", ["query"], query="string", limit={"type": "integer", "default": 3}),
    tool("check_stock", "Stock per size and colour of an article.", ["sku"], sku="string", size="string"),
    tool("create_exchange", "Reserve another variant in exchange for an order line.", ["order_number", "line", "new_sku"],
         order_number=ORDER, line=LINE, new_sku="string"),
    tool("cancel_exchange", "Cancel an open exchange.", ["exchange_number", "reason"], exchange_number="string", reason="string"),
    tool("create_return_label", "Create a prepaid return label for order lines.", ["order_number", "lines"], order_number=ORDER,
         lines={"type": "array", "items": {"type": "integer"}}, carrier=text("Carrier", enum=["examplepost", "pickup"])),
    tool("cancel_return_label", "Cancel an unused return label.", ["return_number"], return_number="string"),
    tool("refund", "Announce a refund for order lines; it is sent when the return parcel is scanned.", ["order_number", "lines", "amount_cents", "method"],
         order_number=ORDER, lines={"type": "array", "items": {"type": "integer"}}, amount_cents={"type": "integer", "minimum": 1},
         method=text("Where the money goes", enum=["original", "gift_card"]), reason="string"),
    tool("order_spare_part", "Send a spare part to the customer.", ["order_number", "line", "part"], order_number=ORDER, line=LINE, part="string"),
    tool("list_spare_parts", "Spare parts of an article.", ["sku"], sku="string"),
    tool("read_attachment", "Describe an attachment that the customer sent.", ["attachment_id"], attachment_id="string"),
    tool("estimate_delivery", "Expected delivery range for a postcode.", ["postcode", "kind"], postcode="string",
         kind=text("What is sent", enum=["parcel", "letter"])),
    tool("track_parcel", "Events of a parcel.", ["tracking_number"], tracking_number="string"),
    tool("add_note", "Write an internal note into the order.", ["order_number", "note"], order_number=ORDER, note="string"),
    tool("escalate", "Hand the chat over to a person.", ["reason", "summary"], reason="string", summary="string"),
]

ORDER_DATA = {
    "order_number": "10-48213", "state": "delivered", "ordered_at": "2026-08-03T18:22:40Z", "delivered_at": "2026-08-07T11:05:00Z",
    "channel": "web", "currency": "EUR",
    "lines": [
        {"line": 1, "sku": "BOOT-RIDGE-42-BLK", "name": "Ridge Mid hiking boot", "size": "42", "colour": "black", "quantity": 1,
         "unit_cents": 13990, "discount_cents": 0, "returnable_until": "2026-09-06", "open_actions": []},
        {"line": 2, "sku": "TENT-LARK-2P-GRN", "name": "Lark 2 person tent", "size": None, "colour": "green", "quantity": 1,
         "unit_cents": 24900, "discount_cents": 2490, "returnable_until": "2026-09-06", "open_actions": []},
        {"line": 3, "sku": "SOCK-MERINO-4043", "name": "Merino hiking socks, pack of 2", "size": "40-43", "colour": "grey", "quantity": 2,
         "unit_cents": 1895, "discount_cents": 0, "returnable_until": "2026-09-06", "open_actions": []},
        {"line": 4, "sku": "CARE-WAX-100", "name": "Leather wax 100 ml", "size": None, "colour": None, "quantity": 1,
         "unit_cents": 890, "discount_cents": 0, "returnable_until": "2026-09-06", "open_actions": []}],
    "totals": {"goods_cents": 41080, "shipping_cents": 0, "total_cents": 41080, "tax_cents": 6559},
    "payment": {"method": "card", "last4": "1881", "captured_at": "2026-08-03T18:22:44Z", "refunded_cents": 0},
    "parcels": [{"tracking_number": "PBX-7730-1192-04", "carrier": "examplepost", "lines": [1, 3, 4], "state": "delivered"},
                {"tracking_number": "PBX-7730-1192-05", "carrier": "examplepost", "lines": [2], "state": "delivered"}],
    "address": {"town": "Musterstadt", "postcode": "99998", "country": "DE"}, "notes": []}

CUSTOMER = {"customer_id": "C-207751", "name": "Robin Sample", "email": "robin@example.com", "language": "en", "since": "2023-04-18",
            "tier": "silver", "points": 1460, "orders": 7, "returns": 1, "open_cases": [], "marketing": {"email": True, "sms": False},
            "flags": [], "last_orders": [{"order_number": "10-48213", "total_cents": 41080, "state": "delivered"},
                                         {"order_number": "10-47760", "total_cents": 3290, "state": "in_transit"},
                                         {"order_number": "10-44102", "total_cents": 8990, "state": "delivered"}]}

POLICY = {"query": "boots worn indoors return refund", "results": [
    {"id": "RET-04", "title": "Footwear: what counts as worn", "updated": "2026-05-11", "text": "Trying on at home, also for a whole evening and with socks, counts as worn indoors. Look for clean soles. Creases in the upper are normal after ten minutes and are no reason to reduce the refund. Soles with soil, small stones or grass count as worn outdoors."},
    {"id": "RET-07", "title": "Amounts the chat team may refund", "updated": "2026-02-02", "text": "Up to 200.00 EUR per order without approval. The limit is per order and not per line; earlier refunds of the same order count. Above the limit the shift lead approves within two hours on working days."},
    {"id": "RET-12", "title": "When the money is sent", "updated": "2026-06-20", "text": "The refund is released by the first carrier scan of the return parcel. Card refunds need three to five bank working days after that. Gift cards are sent by email within an hour of the scan, with the bonus of 5 %."}]}

STOCK = {"sku": "BOOT-RIDGE", "name": "Ridge Mid hiking boot", "price_cents": 13990, "checked_at": "2026-08-12T09:14:31Z", "variants": [
    {"sku": f"BOOT-RIDGE-{size}-{colour}", "size": size, "colour": name, "available": count, "next_delivery": restock}
    for size, colour, name, count, restock in (
        ("42", "BLK", "black", 11, None), ("42", "BRN", "brown", 3, None), ("42.5", "BLK", "black", 0, "2026-08-28"),
        ("42.5", "BRN", "brown", 1, None), ("43", "BLK", "black", 0, "2026-09-02"), ("43", "BRN", "brown", 4, None),
        ("44", "BLK", "black", 7, None), ("44", "BRN", "brown", 0, None))]}

PARTS = {"sku": "TENT-LARK-2P-GRN", "parts": [
    {"part": "LARK-POLE-SEG-A", "name": "Pole segment, 8.5 mm, with sleeve", "available": 42, "price_cents": 0, "warranty": True, "ships_as": "letter"},
    {"part": "LARK-POLE-SET", "name": "Complete pole set", "available": 0, "price_cents": 0, "warranty": True, "ships_as": "parcel", "next_delivery": "2026-09-15"},
    {"part": "LARK-PEG-12", "name": "Pegs, pack of 12", "available": 130, "price_cents": 990, "warranty": False, "ships_as": "letter"},
    {"part": "LARK-SLEEVE-KIT", "name": "Repair sleeves, pack of 3", "available": 88, "price_cents": 0, "warranty": True, "ships_as": "letter"}]}

TRACKING = {"tracking_number": "PBX-7741-0308-11", "carrier": "examplepost", "order_number": "10-47760", "state": "in_transit",
            "expected": {"from": "2026-08-13", "to": "2026-08-14"}, "events": [
                {"at": f"2026-08-{day}T{hour}Z", "place": place, "text": what} for day, hour, place, what in (
                    ("08", "16:40:00", "Warehouse Nord", "Parcel data received"), ("10", "07:12:00", "Warehouse Nord", "Handed over to the carrier"),
                    ("10", "21:55:00", "Hub Mitte", "Arrived at hub"), ("11", "03:20:00", "Hub Mitte", "Missorted, sent to Hub Ost"),
                    ("11", "14:48:00", "Hub Ost", "Arrived at hub"), ("12", "02:05:00", "Hub Ost", "On the way to the delivery depot"))]}


def build() -> dict:
    ids = Ids("support-desk")
    messages = [{"role": "system", "content": SYSTEM}]

    def user(content):
        messages.append({"role": "user", "content": content})

    def agent(content):
        messages.append({"role": "assistant", "content": content})

    def act(*calls, say=None):
        """Calls are (name, arguments, result); all of one `act` run in parallel."""
        named = [("call_" + ids.word(24), *call) for call in calls]
        messages.append({"role": "assistant", "content": say, "tool_calls": [
            {"id": i, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}} for i, name, args, _ in named]})
        for i, _, _, result in named:
            messages.append({"role": "tool", "tool_call_id": i, "content": json.dumps(result, indent=1)})

    order = {"order_number": "10-48213"}
    user("Hi! My order 10-48213 came on Friday. Two things: the boots are too small, and one pole of the tent has a crack. Can I send the boots back and get my money?")
    act(("lookup_order", order, ORDER_DATA), ("lookup_customer", {"query": "10-48213"}, CUSTOMER))
    agent("Hello, sorry that the boots don't fit and that the pole arrived cracked. I have found the order. Before I change anything: could you tell me the postcode of the delivery address?")
    user("sure, 99998")
    act(("verify_customer", order | {"evidence": "99998"}, {"verified": True, "method": "postcode", "valid_until": "2026-08-12T10:11:05Z"}))
    agent("Thank you, that matches. First the boots: did you wear them outside, or only at home?")
    user("Only in the flat, maybe an hour in the evening. The soles are clean but the leather has small creases now, hope that's ok?")
    act(("search_policy", {"query": "boots worn indoors return refund", "limit": 3}, POLICY))
    agent("That is fine: an hour at home counts as worn indoors, and small creases are normal. You get the full price back.\n\nSo I would refund **139.90 EUR** for the Ridge Mid boots (size 42, black) to the card ending in 1881. The money is sent when the carrier scans your return parcel. Shall I do that?")
    user("Hmm wait. Do you have them one size bigger? I actually like them. Then I'd rather exchange them, no refund.")
    act(("check_stock", {"sku": "BOOT-RIDGE", "size": "43"}, STOCK), say="Good idea, let me check the sizes.")
    agent("Size 43 is available in **brown** (4 pairs). In black, 43 is sold out until about 2 September, and 44 is in stock. The price is the same for all of them. Which one would you like?")
    user("Brown 43 is ok, maybe even nicer. Is it reserved then? I leave for the Alps on the 22nd.")
    agent("Yes, it would be reserved for 7 days and shipped as soon as your return parcel is scanned. To confirm: I exchange the boots in size 42 black for **size 43 brown**, without any extra cost, and create a return label. Shall I go ahead?")
    user("yes please")
    act(("create_exchange", order | {"line": 1, "new_sku": "BOOT-RIDGE-43-BRN"}, {
        "exchange_number": "EX-90417", "order_number": "10-48213", "line": 1, "state": "reserved", "old_sku": "BOOT-RIDGE-42-BLK",
        "new_sku": "BOOT-RIDGE-43-BRN", "reserved_until": "2026-08-19T23:59:59Z", "price_difference_cents": 0, "ships_when": "return_scanned"}))
    act(("create_return_label", order | {"lines": [1], "carrier": "examplepost"}, {
        "return_number": "RT-55820", "order_number": "10-48213", "lines": [1], "linked_to": "EX-90417", "carrier": "examplepost", "state": "active",
        "label_url": "https://outdoor.example.com/returns/RT-55820.pdf", "qr_code": "https://outdoor.example.com/returns/RT-55820.png",
        "valid_until": "2026-08-26", "drop_off": {"town": "Musterstadt", "points": 3, "nearest_m": 450}}))
    agent("Done. Your exchange is **EX-90417**, the brown boots in 43 are reserved until 19 August. The return label **RT-55820** is here: https://outdoor.example.com/returns/RT-55820.pdf\n\nNow the tent. Could you send me a photo of the cracked pole?")
    user("[attachment att_6612: IMG_2041.jpg] here. It's the second segment from the top, next to the metal sleeve")
    act(("read_attachment", {"attachment_id": "att_6612"}, {"attachment_id": "att_6612", "type": "image/jpeg", "width": 3024, "height": 4032, "description": "A hand holds two segments of a dark grey tent pole. A crack of about four centimetres runs lengthwise from the end of the upper segment, beside the aluminium sleeve. The elastic cord is visible and looks undamaged. A green tent bag lies in the background."}),
        ("list_spare_parts", {"sku": "TENT-LARK-2P-GRN"}, PARTS), say="Thank you, I'll look at the photo and check our spare parts.")
    agent("I see the crack, it runs from the end of the segment beside the sleeve. The elastic cord looks fine. We have exactly this segment in stock and would send it **free of charge**: you pull the cord, swap the segment and knot it again, that takes about ten minutes. Would that work for you?")
    user("Yes, if it gets here before the 22nd! Otherwise I'd need something else.")
    act(("estimate_delivery", {"postcode": "99998", "kind": "letter"}, {"postcode": "99998", "kind": "letter", "expected": {"from": "2026-08-14", "to": "2026-08-17"}, "cutoff": "2026-08-12T14:00:00Z", "confidence": 0.93}))
    agent("A letter is expected between **14 and 17 August**, so before your trip. I can't guarantee it, but it looks good. Shall I send the pole segment for the Lark tent?")
    user("Great, send it.")
    act(("order_spare_part", order | {"line": 2, "part": "LARK-POLE-SEG-A"}, {"spare_order": "SP-31077", "part": "LARK-POLE-SEG-A", "quantity": 1, "price_cents": 0, "state": "queued", "ships_at": "2026-08-12T15:00:00Z", "includes": ["segment with sleeve", "replacement cord 2.6 m", "instructions"]}))
    agent("The pole segment is on its way today as **SP-31077**, with a replacement cord and instructions in case the old one breaks.\n\nIs there anything else I can do for you?")
    user("Ugh, sorry, I'm terrible. I just talked to my partner: I still have my old boots and they were resoled in spring, and new stiff boots right before a two week hike is a bad idea. I don't want the exchange any more. Can we do the refund after all?")
    act(("cancel_exchange", {"exchange_number": "EX-90417", "reason": "customer prefers refund"}, {
        "error": {"code": "label_active", "message": "Exchange EX-90417 has an active return label RT-55820. Cancel the label first.", "retryable": True}}),
        say="No problem at all, and new boots before a long hike are indeed risky. I'll cancel the exchange first.")
    act(("cancel_return_label", {"return_number": "RT-55820"}, {"return_number": "RT-55820", "state": "cancelled", "cancelled_at": "2026-08-12T09:41:17Z"}))
    act(("cancel_exchange", {"exchange_number": "EX-90417", "reason": "customer prefers refund"}, {
        "exchange_number": "EX-90417", "state": "cancelled", "released_sku": "BOOT-RIDGE-43-BRN", "cancelled_at": "2026-08-12T09:41:24Z", "remaining_options": ["refund"]}))
    agent("The exchange EX-90417 is cancelled, and so is the label RT-55820, **please don't use that one any more**. One thing to know: after a cancelled exchange only a refund is possible for these boots.\n\nSo: **139.90 EUR** for the boots in size 42. To the card ending in 1881, which takes three to five bank working days after the scan, or as a gift card over 146.90 EUR, with a bonus of 5 %?")
    user("Tempting, but the card please. 139.90 back to the card, yes.")
    act(("refund", order | {"lines": [1], "amount_cents": 13990, "method": "original", "reason": "too small, worn indoors only"}, {
        "refund_number": "RF-71264", "order_number": "10-48213", "lines": [1], "amount_cents": 13990, "currency": "EUR", "method": "original",
        "card_last4": "1881", "state": "waiting_for_scan", "limit_left_cents": 6010, "approval": None}),
        ("create_return_label", order | {"lines": [1], "carrier": "examplepost"}, {
            "return_number": "RT-55833", "order_number": "10-48213", "lines": [1], "linked_to": "RF-71264", "carrier": "examplepost", "state": "active",
            "label_url": "https://outdoor.example.com/returns/RT-55833.pdf", "qr_code": "https://outdoor.example.com/returns/RT-55833.png", "valid_until": "2026-08-26",
            "drop_off": {"town": "Musterstadt", "points": 3, "nearest_m": 450}}))
    act(("add_note", order | {"note": "Boots (line 1): refund asked, then exchange EX-90417 (43 brown), then cancelled with RT-55820. Now refund RF-71264, 139.90 to card, label RT-55833. Tent (line 2): cracked pole segment, spare part SP-31077 sent free of charge, expected 14-17 Aug, customer travels on 22 Aug."},
         {"note_id": "N-118203", "saved": True}))
    agent("All set: refund **RF-71264** over 139.90 EUR to the card ending in 1881, with the new label **RT-55833**: https://outdoor.example.com/returns/RT-55833.pdf\n\nThe label is valid until 26 August, so best drop the parcel off before you leave on the 22nd. Is there anything else?")
    user("Yes, last one: my other order 10-47760 (gas cartridge adapter, parcel PBX-7741-0308-11) hasn't moved since yesterday. Will it be here before the trip?")
    act(("track_parcel", {"tracking_number": "PBX-7741-0308-11"}, TRACKING))
    agent("It was sorted to the wrong hub on the 11th and lost a day, but it is moving again: since last night it is on the way to your delivery depot. It is expected on **13 or 14 August**, well before the 22nd.")
    user("Perfect, thanks! Could you sum up everything that happens now, with the numbers and dates, so I can write it down? And what do I have to do myself?")
    return {"model": "gpt-5.5", "messages": messages, "tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": True,
            "reasoning_effort": "low", "max_completion_tokens": 4096}
