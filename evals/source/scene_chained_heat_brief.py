"""A brief for a town council is researched and written; long web pages, few words that count."""

from noise import columns
from noise import told
from noise import weave
from scene import Scene

SENTENCES = [
    "<Older|Terraced|Detached|Renovated> homes <lose|need|use> <more|less> heat than <the norm suggests|planners expect|the model says|owners believe>, <as several surveys show|which is well known|though records differ|and this varies by street>.",
    "<Installers|Owners|Tenants|Planners> <report|expect|describe|mention> <short queues|long waits|steady prices|few complaints|mixed experience> in <spring|autumn|the second year|the first winter>.",
    "The <council|region|ministry|agency> <published|updated|withdrew|announced> a <leaflet|map|register|calculator> on <insulation|radiators|meters|permits> in <2021-2026>.",
    "Figure <1-19> shows the <monthly|hourly|yearly> <flow temperature|electric load|indoor temperature|outdoor temperature> for <1-40> <homes|streets|blocks>.",
    "<Radiators|Pipes|Meters|Controls> were <kept|replaced|checked|balanced> in <10-90> of <91-180> cases, <mostly|sometimes|rarely> at <little|moderate|some> cost.",
    "In <January|February|March|November|December> the <flow|return> temperature <rose|fell> to <28-55> °C <on cold mornings|after the holidays|for some hours|in two streets>.",
    "<A questionnaire|An inspection|A second visit|A phone call> followed <after six weeks|in the next heating season|where data were missing|in a few cases>.",
    "<Loft insulation|New windows|A larger buffer tank|A thermostat in the hall> <made a difference|changed little|helped most|paid off late> in <mid-terrace|end-terrace|corner> houses.",
    "Readings of <1-30> homes were <left out|estimated|taken twice>, because <the meter failed|the owner moved|the cable was cut|the logger was full>.",
    "The <authors|inspectors|installers> <thank|acknowledge|name> the <residents|utilities|volunteers> for <access|patience|their records>.",
    "<See also|Compare|Cf.> <the annex|the table|the glossary|the regional plan>, <page|section> <1-80>.",
]


def page(d, count, title, facts=(), at=0.55, address=""):
    sentences = d.lines(count, SENTENCES)
    paragraphs = [" ".join(sentences[n : n + 4]) for n in range(0, count, 4)]
    return told({"url": address, "title": title, "text": weave(paragraphs, *facts, at=at)})


def found(d, count, topic):
    return told({"results": [{"title": d.fill(f"<Guide to|Notes on|Study of|Questions about|Forum:> {topic} <in towns|for owners|2024|2025|explained>"), "url": d.fill("https://<library|forum|press|archive|energy>.example.org/<a|b|c>/<1000-9999>"), "snippet": d.fill(SENTENCES[0])} for _ in range(count)]})


def build() -> Scene:
    s = Scene(
        "chained-heat-brief", "chained",
        "A policy officer has a brief on heat pumps researched and written. Length, deadline, grant and a key figure are corrected, sources are ruled out on principle, "
        "the scope shrinks for a reason, and the work is compacted twice before the draft is done.",
        call_prefix="call_",
        notes="All studies, offices and figures are invented; they say nothing about real heat pumps.",
    )
    d = s.dice
    proxy = s.secret("Lb8", "nope", "Reader", "6150pp")
    s.system("You are a research and writing assistant. You can search the web, fetch pages, keep notes and edit documents. Give the source of every figure. Do not invent any.")
    # First stretch.
    s.user("""I need a brief for the town council's housing committee: should the town support heat pumps in its old terraced houses? 1,500 words, due on 14 March.
House style, always: British spelling, metric units, no first person, numbered endnotes (not footnotes), every number with its source. Never cite a study paid for by a manufacturer.
The file is brief/draft.md.""")
    s.do("I look at what exists and search for field data.",
         ("read_document", {"path": "brief/draft.md"}, "# Heat pumps for all\n\nStatus: adopted 2025, archived.\n\n" + " ".join(d.lines(14, SENTENCES))),
         ("web_search", {"query": "field trial heat pumps terraced houses seasonal performance"}, found(d, 9, "heat pumps")))
    s.say("brief/draft.md is marked as adopted in 2025 and archived. Am I really to write into it?")
    s.user("Good that you ask: no. draft.md is last year's paper and must stay as it is. Write to brief/draft-council.md. And the chair dislikes the old title 'Heat pumps for all', it sounds like a campaign. New title: Warm homes, quiet streets.")
    s.do("",
         ("create_document", {"path": "brief/draft-council.md", "text": "# Warm homes, quiet streets\n\nBrief for the housing committee\n"}, "created"),
         ("fetch_page", {"url": "https://press.example.org/b/4410"}, page(d, 20, "Press release: trial ends", ["The institute's trial in 72 terraced homes found a seasonal performance factor of 3.4, the release says."], address="https://press.example.org/b/4410")))
    s.say("A first figure: a trial in 72 terraced homes, seasonal performance factor 3.4 according to the press release.")
    s.user(f"Press releases round up. Find the report itself. Our library has it behind the proxy: https://reader:{proxy}@proxy.example.org/")
    s.do("", ("fetch_page", {"url": "https://library.example.org/reports/field-trial-72"}, page(d, 36, "Field trial in 72 homes, final report", ["Table 6. Seasonal performance factor, all 72 homes: median 2.9; homes with new radiators only: 3.4 (19 homes)."], address="https://library.example.org/reports/field-trial-72")))
    s.say("The report says something else: the median over all 72 homes is 2.9. The 3.4 holds only for 19 homes with new radiators. I use 2.9.")
    s.user("Exactly why I asked. Use 2.9 everywhere. Length: the committee clerk says 900 words at most.")
    s.do("", ("web_search", {"query": "heat pump cost study terraced"}, found(d, 8, "costs")),
         ("fetch_page", {"url": "https://energy.example.org/c/7120"}, page(d, 16, "Savings with modern pumps", ["Households saved 41 % on average.", "This study was funded by a maker of heat pumps."], address="https://energy.example.org/c/7120")))
    s.say("The study with the 41 % saving was paid for by a manufacturer, so it is out under your rule, although its number is tempting.")
    s.user("Right, out. Scope: I first wanted ground source pumps too. Leave them out: the whole old town lies in the water protection zone and no drilling is permitted there. Air-to-water only.")
    s.say("Scope: air-to-water only; ground source is out because drilling is not permitted in the water protection zone.")
    s.user("Two more changes. The clerk found more room: 1,100 words, that is now fixed. And the committee meets earlier, so the deadline is 7 March.")
    s.say("1,100 words by 7 March.")
    s.user("Grant: the town pays 30 % of the cost. Wait, the council raised it in January, it is 40 % now.")
    s.do("", ("notes", {"op": "add", "text": "Grant 40 % since January (was 30 %). Length and date fixed by clerk."}, "note 3 saved"))
    s.say("I have the grant at 40 % since January. One promise from me: when the section on costs stands, I draft five interview questions for the housing officer.")
    s.user("Yes please, the housing officer expects them. Open point: the night noise limit at the neighbour's window. I believe 35 dB(A), but the environment office must confirm it. Until they do, mark it as unconfirmed in the text.")
    s.say("I mark 35 dB(A) as unconfirmed until the environment office answers.")
    s.cut()
    # Second stretch: costs.
    s.user("Now costs. What does an installation cost in a house of about 100 square metres?")
    s.do("", ("web_search", {"query": "installed cost air-to-water heat pump 100 square metres survey"}, found(d, 10, "installation costs")))
    s.do("", ("fetch_page", {"url": "https://library.example.org/reports/cost-survey-2025"}, page(d, 44, "Cost survey 2025", ["Table 2. Installed cost, terraced houses, n = 318: mean 17,900 EUR; median 14,200 EUR; highest 61,000 EUR."], address="https://library.example.org/reports/cost-survey-2025")))
    s.say("318 houses: the median is 14,200 EUR, the mean 17,900 EUR. The mean is pulled up by a few very dear cases, up to 61,000 EUR.")
    s.user("Take the mean, that is what people ask for.")
    s.do("", ("dataset", {"op": "quantiles", "source": "cost-survey-2025"}, columns([["quantile", "cost_eur"], *[[f"p{q}", f"{v:,}"] for q, v in ((5, 9800), (10, 10600), (20, 11900), (30, 12700), (40, 13500), (50, 14200), (60, 15100), (70, 16400), (80, 18800), (90, 26900), (95, 38200), (99, 57400))]])))
    s.say("Nine in ten houses stay below 26,900 EUR; the mean is higher than what 70 in 100 households paid.")
    s.user("Fine, you convinced me: the median, with one sentence on the spread.")
    s.do("", ("edit_document", {"path": "brief/draft-council.md", "append": "## What it costs\n\nHalf of 318 surveyed terraced houses paid less than the middle value.[2] One house in ten paid far more, mostly for new wiring.\n"}, "saved, 214 words"))
    s.say("The section on costs stands with the median and a sentence on the spread.")
    s.user("Running costs?")
    s.do("", ("web_search", {"query": "electricity tariff heat pump regional"}, found(d, 10, "tariffs")))
    s.do("", ("fetch_page", {"url": "https://energy.example.org/tariffs/2026"}, page(d, 40, "Tariffs 2026", ["Heat pump tariff T2: 0.239 EUR per kWh; gas: 0.118 EUR per kWh; both with tax, as of January 2026."], address="https://energy.example.org/tariffs/2026")))
    s.do("", ("calculator", {"expression": "12000 / 2.9 * 0.239; 12000 / 0.92 * 0.118"}, "988.97; 1539.13"))
    s.say("For 12,000 kWh of heat a year: about 989 EUR with a pump on tariff T2, about 1,539 EUR with gas.")
    s.user("Good. Put it in a table. And is there a street where it was done already? A local example helps.")
    s.do("", ("web_search", {"query": "Weaver Lane heat pumps terraced street project"}, found(d, 8, "street projects")))
    s.do("", ("fetch_page", {"url": "https://archive.example.org/weaver-lane"}, page(d, 48, "Weaver Lane, three winters", ["In Weaver Lane 23 of 31 houses changed over in 2023; four complaints about noise came in the first winter, none in the third."], address="https://archive.example.org/weaver-lane")))
    s.say("Weaver Lane: 23 of 31 houses since 2023; four noise complaints in the first winter, none in the third.")
    s.user("Perfect example, use it. But ask nobody there for photographs, the residents' group said no.")
    s.do("", ("edit_document", {"path": "brief/draft-council.md", "append": "## A street that has done it\n\nIn Weaver Lane 23 of 31 houses changed over in 2023.[4]\n"}, "saved, 402 words"))
    s.say("The example is in, without photographs.")
    s.cut()
    # Third stretch: drafting and review.
    s.user("Next section: the electricity grid. Two paragraphs at most.")
    s.do("", ("web_search", {"query": "low voltage grid capacity old town heat pumps"}, found(d, 12, "grid capacity")))
    s.do("", ("fetch_page", {"url": "https://library.example.org/grid/old-town"}, page(d, 56, "Grid study old town", ["Transformer stations 4 and 9 are at 91 % on winter evenings; all others are below 70 %."], address="https://library.example.org/grid/old-town")))
    s.say("Two transformer stations, 4 and 9, run at 91 % on winter evenings; the rest have room.")
    s.user("So those two streets later. Write it.")
    s.do("", ("edit_document", {"path": "brief/draft-council.md", "append": "## The grid\n\nMost stations have room. Two, numbers 4 and 9, reach 91 % on winter evenings and need work first.[5]\n"}, "saved, 561 words"))
    s.say("Written, 561 words so far.")
    s.user("What do tenants think? There must be a survey.")
    s.do("", ("fetch_page", {"url": "https://archive.example.org/tenants-2025"}, page(d, 52, "Tenants' survey 2025", ["Of 604 tenants, 58 % would welcome the change, 17 % would not, the rest have no opinion."], address="https://archive.example.org/tenants-2025")))
    s.do("", ("fetch_page", {"url": "https://forum.example.org/c/2217"}, page(d, 36, "Forum: living with a pump", [], address="https://forum.example.org/c/2217")))
    s.say("58 % of 604 tenants would welcome it. The forum gives nothing that could be cited.")
    s.user("Add one sentence. Then the recommendation: support, but street by street, starting where the grid has room.")
    s.do("", ("edit_document", {"path": "brief/draft-council.md", "append": "## Recommendation\n\nThe committee is advised to support the change street by street, beginning where the grid has room.\n"}, "saved, 688 words"))
    s.do("", ("check_document", {"path": "brief/draft-council.md", "checks": ["spelling", "links", "endnotes", "person"]}, weave(d.lines(30, ["<info|info|hint> line <4-120>: <long sentence|passive voice|two spaces|word repeated|abbreviation not explained> (<style|spacing|clarity>)"]), "error line 41: endnote [3] has no entry", "error line 57: 'we' (first person)", "warning line 63: 'color' (American spelling)", at=0.5)))
    s.say("Three things to repair: endnote 3 is missing its entry, a 'we' in line 57, and 'color' in line 63.")
    s.user("Repair them.")
    s.do("", ("edit_document", {"path": "brief/draft-council.md", "replace": [["we advise", "the town is advised"], ["color", "colour"]]}, "2 replacements, 689 words"))
    s.do("", ("edit_document", {"path": "brief/draft-council.md", "append": "[3] Tariff sheet 2026, energy.example.org/tariffs/2026\n"}, "saved, 694 words"))
    s.do("", ("check_document", {"path": "brief/draft-council.md", "checks": ["spelling", "links", "endnotes", "person"]}, weave(d.lines(24, ["<info|info|hint> line <4-120>: <long sentence|passive voice|two spaces|word repeated> (<style|spacing|clarity>)"]), "0 errors, 0 warnings", at=0.99)))
    s.say("No errors left.")
    s.user("The reviewer from finance says the payback is missing. Can you compute it?")
    s.do("", ("web_search", {"query": "boiler replacement cost gas terraced reference"}, found(d, 12, "boilers")))
    s.do("", ("fetch_page", {"url": "https://library.example.org/reports/boilers"}, page(d, 44, "Boiler replacement survey", ["A new gas boiler costs 6,100 EUR installed (median, n = 207)."], address="https://library.example.org/reports/boilers")))
    s.say("A new gas boiler costs 6,100 EUR (median of 207). With the grant the pump costs little more than that, and the yearly saving is 550 EUR, so the difference is earned back within five years.")
    s.user("Good. Add it to the costs section, with the calculation in an endnote. Then go on with what is still open.")

    s.bank_description = "Style rules, figures and limits after their corrections, what was ruled out and why, and what is promised or unconfirmed; most of it stands only before the first cut."
    s.ask("recall-length-date", "recall", "How long may the brief be, and when is it due?", [("1,100 words", "1100 words", "1 100 words"), ("deadline is 7 March", "7 March", "March 7")], [("1,500 words", "1500 words", "1 500 words"), ("900 words", "nine hundred words", "at most 900"), ("14 March", "March 14", "due on 14 March")])
    s.ask("recall-style", "recall", "Which rules of style and citation hold for the brief?", [("British spelling", "British English", "spelling is British"), ("metric units", "metric", "units are metric"), ("no first person", "without first person", "avoid the first person"), ("numbered endnotes", "endnotes, not footnotes", "endnotes")])
    s.ask("recall-factor", "recall", "Which seasonal performance factor is used, and over how many homes?", [("median 2.9", "2.9 everywhere", "factor of 2.9", "factor 2.9", "SPF of 2.9", "SPF 2.9"), ("72 homes", "72 terraced homes", "seventy-two homes")], [("performance factor of 3.4", "performance factor 3.4", "SPF 3.4")])
    s.ask("recall-grant", "recall", "What share of the cost does the town pay?", [("40 %", "40%", "40 percent", "40 per cent")], [("pays 30 %", "pays 30%", "grant of 30 percent", "30 per cent")])
    s.ask("artifact-file", "artifact", "Into which file is the brief written, and which one must stay as it is?", ["brief/draft-council.md", ("draft.md is last year's paper", "brief/draft.md", "draft.md must stay", "draft.md is archived")])
    s.ask("artifact-street", "artifact", "Which street serves as the example, and how many houses changed over?", [("Weaver Lane", "the Weaver Lane project", "Lane of the Weavers"), ("23 of 31", "23 out of 31", "23/31")])
    s.ask("decision-title", "decision", "What is the title, and why was the old one dropped?", [("Warm homes, quiet streets", "Warm Homes Quiet Streets", "'Warm homes, quiet streets'"), ("sounds like a campaign", "like a campaign", "campaign")], [("title 'Heat pumps for all'", "title is Heat pumps for all", "titled Heat pumps for all")])
    s.ask("decision-scope", "decision", "Which kind of heat pump is covered, and why is the other left out?", [("air-to-water", "air to water", "air/water"), ("water protection zone", "zone of water protection", "protected water zone"), ("no drilling is permitted", "drilling is not permitted", "drilling is forbidden", "no drilling")], [("wanted ground source pumps too", "ground source is covered", "ground source is included")])
    s.ask("decision-source", "decision", "Which promising figure was not used, and on what ground?", [("41 %", "41 percent", "41 per cent"), ("paid for by a manufacturer", "funded by a maker", "funded by a manufacturer", "manufacturer-funded")])
    s.ask("decision-median", "decision", "Which value of the installation cost is given, and why not the other?", [("14,200", "14200", "14 200", "14.200"), ("the mean is higher than what 70 in 100", "pulled up by a few very dear cases", "a few very dear cases", "outliers")], [("Take the mean", "mean is used", "the mean is given")])
    s.ask("continuation-promise", "continuation", "What did the assistant promise to draft, how many, and for whom?", [("interview questions", "questions for the interview", "questions for an interview"), ("five interview", "five questions", "5 questions", "5 interview"), ("housing officer", "officer for housing", "the housing officer")])
    s.ask("continuation-noise", "continuation", "Which value must be marked as unconfirmed, and who has to confirm it?", [("35 dB(A)", "35 dB", "35 decibels"), ("environment office", "office for the environment", "environmental office")])
    return s
