"""Twelve questions, each with a passage that answers it; no passage answers the question before its own."""

from __future__ import annotations

PAIRS = (
    (
        "Who built the lighthouse?",
        "The lighthouse on Gull Rock was built by Marta Lindqvist, an engineer from Bergen, in a year.",
    ),
    (
        "What do young herons eat?",
        "For the first weeks the adults feed young herons small fish and frogs. Later the birds hunt alone.",
    ),
    (
        "When was the treaty signed?",
        "After two years of talks the envoys met again, and the treaty was signed on 4 May 1821 in Trieste.",
    ),
    (
        "How tall is the water tower?",
        "The water tower in the old station yard is 38 metres tall and holds enough for the whole district.",
    ),
    (
        "Where does the river Sella rise?",
        "The river Sella rises in the hills above Corvara and flows south through three lakes.",
    ),
    (
        "Which metal is the bell made of?",
        "The great bell of the abbey is made of bronze. It was cast twice, because the first one cracked.",
    ),
    (
        "Who won the chess tournament?",
        "Nine players came from abroad, but Ivo Petrov of Varna won the chess tournament without a loss.",
    ),
    (
        "How many pupils attend the music school?",
        "The music school moved to the former brewery. It is attended by 240 pupils, many of them singers.",
    ),
    (
        "Why was the bridge closed?",
        "The bridge was closed because of cracks in its northern arch, which divers had found in the autumn.",
    ),
    (
        "What is the capital of the province?",
        "Lemvik is the capital of the province and its only harbour. Its people work in the shipyards.",
    ),
    (
        "What colour is the flag of the rowing club?",
        "Every crew of the rowing club carries its flag, which is dark green with a white oar across it.",
    ),
    (
        "How long does the ferry take to the island?",
        "The ferry takes 45 minutes to the island in calm weather; in winter it sails only on Fridays.",
    ),
)
