"""Statements by the form of their question: question, answer, sentence, and what is said."""

from __future__ import annotations

import pytest

from spanwise.reader.statement import statement

SUBJECT = [
    ("Who wrote the poem?", "Ada Rook", "The poem by Ada Rook is short.", "Ada Rook wrote the poem."),
    ("Which river flows through Ely?", "Ouse", "Ely lies on the Ouse.", "The Ouse flows through Ely."),
    ("Which river flows through Ely?", "Ouse", "Ouse water is cold, they say.", None),
    (
        "What causes the noise?",
        "a loose belt",
        "The noise comes from a loose belt.",
        "A loose belt causes the noise.",
    ),
    ("What drives the wheels?", "two belts", "Two shafts and two belts move.", "Two belts drive the wheels."),
    ("Which company owns the ferry?", "Norden", "Norden bought it.", "Norden owns the ferry."),
    ("Who first climbed the tower?", "Otto Falk", "Otto Falk did.", "Otto Falk first climbed the tower."),
    ("What person first used the loom?", "Ada Rook", "By Ada Rook.", "Ada Rook first used the loom."),
    ("Who is credited with the design?", "Ada Rook", "By Ada Rook.", "Ada Rook is credited with the design."),
    (
        "Who was responsible for the bridge?",
        "Otto Falk",
        "Otto Falk.",
        "Otto Falk was responsible for the bridge.",
    ),
    ("Who has won the cup twice?", "Ely Town", "Ely Town won it.", "Ely Town has won the cup twice."),
    ("Who had the most votes?", "Ada Rook", "Ada Rook had 40.", "Ada Rook had the most votes."),
    ("Who can open the gate?", "the miller", "Only the miller can.", "The miller can open the gate."),
    ("How many people live in Ely?", "20,000", "Ely has 20,000.", "20,000 people live in Ely."),
    (
        "How many people live in Ely?",
        "about 20,000 people",
        "It has about 20,000 people.",
        "About 20,000 people live in Ely.",
    ),
    ("What percentage of voters chose Falk?", "40%", "Falk got 40% of votes.", "40% of voters chose Falk."),
]
COPULA = [
    (
        "What is the capital of Ruritania?",
        "Strelsau",
        "Its capital is Strelsau.",
        "The capital of Ruritania is Strelsau.",
    ),
    (
        "What was the height of the mast?",
        "12 m",
        "The mast was 12 m high.",
        "The height of the mast was 12 m.",
    ),
    (
        "Who was the first mayor of Ely?",
        "Otto Falk",
        "Otto Falk was.",
        "The first mayor of Ely was Otto Falk.",
    ),
    ("Who was Ada's father?", "Otto Rook", "She was a child of Otto Rook.", "Otto Rook was Ada's father."),
    ("Who was president in 1911?", "Otto Falk", "Otto Falk led it.", "Otto Falk was president in 1911."),
    (
        "What is the name of the man who built the mill?",
        "Ada Rook",
        "Ada Rook built it.",
        "The name of the man who built the mill is Ada Rook.",
    ),
    ("What nationality is Ada Rook?", "Danish", "She is Danish.", "Ada Rook is Danish."),
    ("When was the mill built?", "1811", "It dates from the year 1811.", "The mill was built in 1811."),
    ("When was the mill built?", "5 May 1811", "Date: 5 May 1811.", "The mill was built on 5 May 1811."),
    (
        "When was the mill officially opened?",
        "Monday",
        "Open since Monday.",
        "The mill was officially opened on Monday.",
    ),
    ("When was the mill built?", "1810s", "It was built in the 1810s.", "The mill was built in the 1810s."),
    ("When was the Battle of Ely?", "1071", "Ely fell in 1071.", "The Battle of Ely was in 1071."),
    ("Where is the museum located?", "Ely", "You find it in Ely.", "The museum is located in Ely."),
    (
        "Where was Ada Rook born?",
        "Hollow Farm",
        "She was born at Hollow Farm.",
        "Ada Rook was born at Hollow Farm.",
    ),
    ("Where are the tools kept?", "behind the door", "They lie behind the door.", None),
    (
        "Where are the tools kept?",
        "under the stairs",
        "They lie under the stairs.",
        "The tools are kept under the stairs.",
    ),
    ("What was the dog called?", "Rex", "The dog Rex barked.", "The dog was called Rex."),
    (
        "What is the mill used for?",
        "grinding corn",
        "It serves for grinding corn.",
        "The mill is used for grinding corn.",
    ),
    ("In what year was the mill built?", "1811", "It is of 1811.", "The mill was built in 1811."),
    ("What city was Ada Rook born in?", "Ely", "She is from Ely.", "Ada Rook was born in Ely."),
    (
        "How many mills are there in Ely?",
        "seven",
        "Seven mills, seven millers.",
        "There are seven mills in Ely.",
    ),
    ("How tall is the tower?", "324 metres", "It has 324 metres.", "The tower is 324 metres tall."),
    ("How old was the miller?", "42", "He was 42.", "The miller was 42."),
    (
        "How long was the stadium closed?",
        "six months",
        "It was shut for six months.",
        "The stadium was closed for six months.",
    ),
    (
        "Why was the ferry delayed?",
        "because the river froze",
        "It was, because the river froze.",
        "The ferry was delayed because the river froze.",
    ),
    (
        "Why was the ferry delayed?",
        "the river was frozen",
        "It came late because the river was frozen.",
        "The ferry was delayed because the river was frozen.",
    ),
    ("How was the tube sealed?", "by a flame", "It is sealed by a flame.", "The tube was sealed by a flame."),
]
AUXILIARY = [
    ("When did Ely win the cup?", "2014", "Ely won in 2014.", "Ely won the cup in 2014."),
    ("When did the mill burn down?", "noon", "It burned at noon.", "The mill burned down at noon."),
    (
        "When did the mill open?",
        "ten years ago",
        "It opened ten years ago.",
        "The mill opened ten years ago.",
    ),
    ("When did the mill open?", "in 1811", "It opened in 1811.", "The mill opened in 1811."),
    ("What does the jar contain?", "salt", "There is salt in it.", "The jar contains salt."),
    ("What do millers wear?", "caps", "They have caps.", "Millers wear caps."),
    ("What did Ada Rook invent in 1811?", "loom", "She made a loom.", "Ada Rook invented a loom in 1811."),
    ("Who did Ada Rook marry?", "Otto Falk", "She married Otto Falk.", "Ada Rook married Otto Falk."),
    (
        "What did the mill rely on for power?",
        "the river",
        "It used the river.",
        "The mill relied on the river for power.",
    ),
    (
        "What does NATO stand for?",
        "North Atlantic Treaty Organization",
        "North Atlantic Treaty Organization it is.",
        "NATO stands for North Atlantic Treaty Organization.",
    ),
    ("What did Ada Rook refuse to eat?", "meat", "She never ate meat.", "Ada Rook refused to eat meat."),
    ("Where did the ferry come from?", "Ely", "It came from Ely.", "The ferry came from Ely."),
    (
        "Where did the boy find the ring?",
        "attic",
        "It lay in the attic.",
        "The boy found the ring in the attic.",
    ),
    ("In what year did the state fall?", "1806", "It fell in 1806.", "The state fell in 1806."),
    ("What year did Ada Rook die?", "1871", "She died in 1871.", "Ada Rook died in 1871."),
    (
        "To whom did Ada Rook leave the mill?",
        "Otto Falk",
        "He, Otto Falk, got it.",
        "Ada Rook left the mill to Otto Falk.",
    ),
    ("At what age did Ada Rook die?", "80", "She was 80.", "Ada Rook died at age 80."),
    ("How many sons did Ada Rook have?", "three", "She had three sons.", "Ada Rook had three sons."),
    ("How much did the mill cost?", "£500", "It cost £500.", "The mill cost £500."),
    ("How long did the war last?", "six years", "It took six years.", "The war lasted six years."),
    (
        "How did the crew stop the fire?",
        "by closing the gate",
        "They did by closing the gate.",
        "The crew stopped the fire by closing the gate.",
    ),
    ("What kind of music did the band play?", "jazz", "They played jazz.", "The band played jazz."),
    (
        "Which prize has Ada Rook won?",
        "the Gold Cup",
        "She won the Gold Cup.",
        "Ada Rook has won the Gold Cup.",
    ),
    ("What can the mill grind?", "corn", "It grinds corn.", "The mill can grind corn."),
    ("How many people can the hall hold?", "300", "It holds 300.", "The hall can hold 300 people."),
]
FRONTED_AND_LAST = [
    ("In 1990, who won the cup?", "Ely Town", "Ely Town did.", "In 1990, Ely Town won the cup."),
    (
        "During the war, where was the gold kept?",
        "Ely",
        "It lay in Ely.",
        "During the war, the gold was kept in Ely.",
    ),
    ("Ada Rook was born in what town?", "Ely", "She came from Ely.", "Ada Rook was born in Ely."),
    ("The mill burned down when?", "1871", "It burned in 1871.", "The mill burned down in 1871."),
    ("The mill is driven by what?", "water", "It runs on water.", "The mill is driven by water."),
]
NOTHING = [
    ("Is the mill old?", "yes", "It is."),
    ("Did the mill burn?", "in 1871", "It burned in 1871."),
    ("Name the mill's owner?", "Ada Rook", "Ada Rook owns it."),
    ("List all the mills?", "two", "There are two."),
    ("When did he die?", "1871", "He died in 1871."),
    ("What did you see?", "a dog", "I saw a dog."),
    ("When did this happen?", "1871", "It was in 1871."),
    ("Who built it, and when?", "Ada Rook", "Ada Rook built it in 1811."),
    ("It burned. Who built it again?", "Ada Rook", "Ada Rook."),
    ("When didn't the mill run?", "1811", "In 1811 it stood still."),
    ("When was the mill not in use?", "1811", "In 1811 it stood still."),
    ("When was the mill built", "1811", "It was built in 1811."),
    ("when was the mill built?", "1811", "It was built in 1811."),
    ("Wann wurde die Mühle gebaut?", "1811", "Sie wurde 1811 gebaut."),
    ("¿Quién construyó el molino?", "Ada", "Ada lo construyó."),
    ("When was the mill built?", "", "It was built in 1811."),
    ("When was the mill built?", "...", "..."),
    (
        "When was the mill built?",
        "long after the war. It burned",
        "It was built long after the war. It burned.",
    ),
    ("When was the mill built? " * 60, "1811", "It was built in 1811."),
    ("When was the mill built?", "1811 " * 40, "It was built in 1811."),
    ("", "1811", ""),
    ("?", "1811", ""),
    ("Who?", "Ada", "Ada."),
    ("What?", "Ada", ""),
    ("Why was the ferry late?", "ice", "The ice was thick."),
    ("How does the lock work?", "two gates", "It has two gates."),
    ("Where was the ring found?", "Ely", "Ely, a town."),
    ("When was Ada Rook in power?", "1811", "She ruled in 1811."),
    ("When was Ada Rook part of the club?", "1811", "She joined in 1811."),
    ("What happened in 1811?", "the mill burned", "In 1811 the mill burned."),
    ("Who was elected?", "Ada and Otto", "Ada and Otto were."),
    ("How many sons did Ada Rook have?", "some", "She had some."),
    ("What role did Ada Rook play?", "miller", "She was a miller."),
    ("Which ports did the navy close?", "French", "The navy closed the French docks."),
    ("What did the crew say about the ice?", "it was thin", "They said it was thin."),
    ("When did the plan to rule sea trade end work there?", "1811", "In 1811."),
    ("What did the clerk lie about?", "money", "He lies, always."),
    ("When did Ada say the mill would burn?", "when it rains?", "She said so."),
]


@pytest.mark.parametrize(
    ("question", "answer", "sentence", "expected"), [*SUBJECT, *COPULA, *AUXILIARY, *FRONTED_AND_LAST]
)
def test_a_question_becomes_a_statement(question, answer, sentence, expected):
    assert statement(question, answer, sentence) == expected


@pytest.mark.parametrize(("question", "answer", "sentence"), NOTHING)
def test_what_is_not_certain_stays_unsaid(question, answer, sentence):
    assert statement(question, answer, sentence) is None
