"""Small collections of documents from different fields, and questions to them.

Some of the questions are answered by a sentence there, some by none.
"""

from __future__ import annotations

TREES = {
    "evaluation.txt": """Street trees: evaluation of the planting programme

Of the 1,240 saplings planted between 2021 and 2024, 1,017 were alive in September 2025, a survival
rate of 82 %. Losses were highest on Station Road, where 61 of 140 trees died, mostly from drought.

Lime trees did best: 94 % of them were alive. Maples did worst. Watering bags were tried on Quay
Street from May 2023 and halved the losses there.

The programme was paid for by the town and by the Hartwell Foundation, which gave 60,000 dollars.
""",
    "courier.html": """<html><head><title>Courier: green streets</title></head><body>
<h1>Green streets</h1><p>The mayor, Ruth Okafor, praised the planting programme on Monday. She said
that 91 % of the saplings had survived.</p><p>Residents of Station Road complain about missing
benches. Next year 300 trees are to be planted, none of them on Station Road.</p></body></html>""",
    "notiz.txt": """Die Linden an der Kaistraße wurden im Mai gewässert.
Die Ahornbäume stehen trocken. Die Stadt hat dafür kein Geld.
""",
    "spending.csv": """year,budget (dollars),spent (dollars),trees planted
2021,90000,84000,250
2022,95000,103500,310
2023,110000,108000,340
2024,110000,109700,340
""",
}

CONTRACT = {
    "lease.md": """# Lease of the workshop at 12 Mill Lane

## 1. Parties
This lease is between Brenner Estates Ltd (the landlord) and the Kiln Cooperative (the tenant).

## 2. Term
The lease begins on 1 March 2023 and runs for five years. It may be renewed once for another three
years if the tenant asks for it in writing six months before the end.

## 3. Rent and deposit
The rent is 1,850 euros a month, payable on the third working day. The deposit is 5,550 euros and is
returned within 60 days of the end of the lease.

## 4. Repairs
The landlord maintains the roof, the outer walls and the heating. The tenant pays for repairs to
doors, windows and anything broken by its own kilns.

## 5. Ending the lease
Either side may terminate the lease with a notice period of four months. The landlord may end it at
once if rent is unpaid for two months.

## 6. Use
Kilns may be fired between 7 a.m. and 10 p.m. only, because of the noise of the extractor fans.
Subletting requires the landlord's written consent.
""",
    "letter.txt": """From: Brenner Estates Ltd
To: Kiln Cooperative
Date: 4 May 2025

Dear tenants,

From 1 July 2025 the rent is 1,990 euros a month, an increase that follows the consumer price index.
The boiler will be replaced in August. We remind you that the courtyard must be kept free for the
fire brigade.
""",
}

MINUTES = {
    "minutes-april.txt": """Minutes of the library committee, 9 April 2025
Present: Dana Whitlock (chair), Imre Sato, Paula Reyes. Apologies: Colin Marsh.

1. Opening hours
The committee agreed to open the library on Sundays from 1 p.m. to 5 p.m. from June. Imre Sato voted
against, since no budget for the extra staff has been found.

2. Roof
The roof leaks above the children's section. Two offers were received: 14,200 pounds from Alder
Roofing and 17,900 pounds from Peak & Sons. The committee accepted the offer of Alder Roofing.

3. Visitors
Visits rose from 41,300 in 2023 to 46,800 in 2024. The increase is due to the new study rooms.
""",
    "minutes-june.txt": """Minutes of the library committee, 11 June 2025
Present: Dana Whitlock (chair), Imre Sato, Colin Marsh. Apologies: Paula Reyes.

1. Roof
The repair of the roof was delayed because the scaffolding arrived two weeks late. Work ends on 27
June.

2. Sunday opening
Sunday opening was postponed to September, as no staff could be hired. Colin Marsh will write to the
county about a grant.

3. Stolen books
In total 212 books went missing last year. Security gates were considered and rejected as too
expensive.
""",
}

LAB = {
    "protocol.md": """# Protocol: growth of yeast at low pH

## Aim
We test whether strain Y7 grows at pH 3.

## Method
Cultures were incubated at 30 °C for 48 hours in 50 ml flasks. The pH was set with citric acid. The
optical density was measured every two hours with a Lumen 200 spectrometer.

## Results
Strain Y7 reached an optical density of 1.8 at pH 3, against 4.1 at pH 6. The control strain did not
grow at pH 3 at all. Two of twelve flasks were discarded because of contamination with mould.

## Conclusion
Strain Y7 tolerates acid better than the control strain, but its growth is less than half.
""",
    "notebook.txt": """Tuesday. Flasks 4 and 9 smell odd; thrown away. Priya thinks the autoclave
did not reach its temperature.

Thursday. Measured again after calibration: the optical density of strain Y7 at pH 3 is 2.3, not 1.8
as before. The spectrometer had not been zeroed.

Friday. Ordered more citric acid from Vendel Chemicals, 500 g, to arrive next week.
""",
}

NEWS = {
    "ferry.html": """<html><head><title>Harbour Gazette</title></head><body>
<h1>New ferry delayed again</h1><p>The electric ferry Solveig will not enter service before April
2026, the operator Norsund Lines said on Friday. The batteries failed a safety inspection in
October.</p><p>The ship carries 240 passengers and 38 cars. It was built in Gdansk for 31 million
euros, 4 million more than planned.</p><p>Commuters from Holm Island are angry. "We were promised a
crossing of 25 minutes," said Anja Brekke, who commutes daily. The old ferry takes 40 minutes.</p>
<h2>Refunds</h2><p>Season tickets bought before 1 September are refunded in full. Applications are
accepted until the end of the year.</p></body></html>""",
    "operator.md": """# Norsund Lines: annual report

## Fleet
We operate seven ships with an average age of 19 years. The ferry Solveig was purchased for 29
million euros.

## Staff
At the end of the year 312 people worked for us, 14 fewer than the year before, as two routes were
closed.

## Accidents
One sailor was injured when a mooring rope broke in February. No passenger was hurt.
""",
    "recipe.txt": """Rye bread. Mix 500 g of rye flour with 400 ml of warm water and the sourdough.
Leave it for 12 hours. Bake at 220 degrees for one hour. The crust is soft because the oven is kept
moist.
""",
}
"""Written when the rules for the others were done; three of them were changed after it."""

ANSWERED = [
    (TREES, "What share of the saplings survived?", "survival rate of 82 %"),
    (TREES, "Why did trees on Station Road die?", "mostly from drought"),
    (TREES, "Which trees did best?", "Lime trees did best"),
    (TREES, "How much was spent in 2022?", "2022"),
    (TREES, "Who is the mayor?", "Ruth Okafor"),
    (TREES, "How many trees are planted next year?", "300 trees"),
    (TREES, "Did watering bags help on Quay Street?", "halved the losses"),
    (TREES, "How much did the Hartwell Foundation give?", "60,000 dollars"),
    (CONTRACT, "How long does the lease run?", "five years"),
    (CONTRACT, "What is the notice period for termination?", "four months"),
    (CONTRACT, "How much is the deposit?", "5,550 euros"),
    (CONTRACT, "How much is the rent?", "1,850 euros"),
    (CONTRACT, "How much is the rent from July 2025?", "1,990 euros"),
    (CONTRACT, "Who repairs the heating?", "maintains the roof"),
    (CONTRACT, "When may kilns be fired?", "between 7 a.m."),
    (CONTRACT, "Why may kilns not be fired at night?", "because of the noise"),
    (CONTRACT, "Who is the landlord?", "Brenner Estates Ltd"),
    (MINUTES, "Why was the roof repair delayed?", "because the scaffolding"),
    (MINUTES, "Which company repairs the roof?", "accepted the offer of Alder Roofing"),
    (MINUTES, "Who voted against Sunday opening?", "Imre Sato voted"),
    (MINUTES, "How many people visited the library in 2024?", "46,800 in 2024"),
    (MINUTES, "Why did visits increase?", "due to the new study rooms"),
    (MINUTES, "How many books were stolen?", "212 books"),
    (MINUTES, "Who was chair of the committee?", "Dana Whitlock"),
    (LAB, "At what temperature were the cultures incubated?", "30 °C"),
    (LAB, "What optical density did strain Y7 reach at pH 3?", "1.8"),
    (LAB, "Why were flasks discarded?", "because of contamination"),
    (LAB, "Did the control strain grow at pH 3?", "did not"),
    (LAB, "Who supplies the citric acid?", "Vendel Chemicals"),
    (LAB, "How often was the optical density measured?", "every two hours"),
    (NEWS, "When will the Solveig enter service?", "April 2026"),
    (NEWS, "Why is the ferry delayed?", "failed a safety inspection"),
    (NEWS, "How many passengers does the Solveig carry?", "240 passengers"),
    (NEWS, "What did the Solveig cost?", "29 million"),
    (NEWS, "Where was the ferry built?", "Gdansk"),
    (NEWS, "How long does the old ferry take?", "40 minutes"),
    (NEWS, "Are season tickets refunded?", "refunded in full"),
    (NEWS, "How many people work for Norsund Lines?", "312 people"),
    (NEWS, "Why did the number of staff fall?", "two routes were closed"),
    (NEWS, "Who was injured?", "One sailor"),
    (NEWS, "How old are the ships?", "19 years"),
    (NEWS, "At what temperature is rye bread baked?", "220 degrees"),
    (NEWS, "Why is the crust soft?", "kept moist"),
    (NEWS, "How much flour is needed?", "500 g"),
]
"""Documents, a question, and what the sentence that answers it has in it."""

UNANSWERED = [
    (TREES, "Who pays for the dead maples?"),
    (TREES, "What does a bench cost?"),
    (TREES, "How many squirrels live in the lime trees?"),
    (CONTRACT, "Is the tenant insured against fire?"),
    (CONTRACT, "What is the landlord's telephone number?"),
    (CONTRACT, "May the tenant keep a dog?"),
    (MINUTES, "How much do the security gates cost?"),
    (MINUTES, "What is the salary of the librarian?"),
    (MINUTES, "Which author gave a reading?"),
    (LAB, "Was the yeast genetically modified?"),
    (LAB, "How much did the spectrometer cost?"),
    (LAB, "Which journal published the results?"),
    (NEWS, "Who is the captain of the Solveig?"),
    (NEWS, "What does a season ticket cost?"),
    (NEWS, "How many whales were seen?"),
    (NEWS, "Why did the sailor resign?"),
    (NEWS, "How much salt is in the bread?"),
    (NEWS, "What is the profit of Norsund Lines?"),
]
