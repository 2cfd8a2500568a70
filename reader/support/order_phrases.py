"""Phrases that stand together in sentences that give orders to whoever reads or answers.

A rule is a reach and groups of phrases: it holds where one phrase of each group stands within that many
characters. Texts are compared as `orders.plain` makes them, small words with one space between and around
them: " ignore " is a word, " instruction" the beginning of one, 忽略 stands anywhere. Talk of an answer or
of rules meets none: it takes the order, what it is about, and whom it is given to or what it drops.
"""

from __future__ import annotations

Rule = tuple[int, tuple[tuple[str, ...], ...]]  # reach, groups

SAY = (
    *(" say ", " write ", " output ", " print ", " include ", " append ", " add ", " begin ", " begins "),
    *(" start ", " end ", " mention ", " insert ", " repeat ", " put ", " state ", " contain ", " quote "),
    *(" conclude ", " reply ", " respond ", " answer ", " tell ", " reveal ", " copy ", " finish "),
)
_DROP = (
    *(" ignore ", " disregard ", " forget ", " override ", " overrule ", " bypass ", " do not follow "),
    *(" stop following ", " do not obey "),
)
_EARLIER = (
    *(" previous ", " prior ", " above ", " earlier ", " preceding ", " all ", " any ", " your ", " before "),
    *(" other ", " every "),
)
_INSTRUCTIONS = (
    *(" instruction", " prompt", " rules ", " directions ", " guideline", " directive", " text above "),
    *(" question i ", " orders "),
)
_THE_REPLY = (
    *(" your answer", " your response", " your reply", " your summary", " your final answer"),
    *(" your next message", " in the answer ", " into the answer ", " in the summary ", " to the answer "),
    *(" the answer must ", " the answer has to ", " the summary must ", " the summary has to "),
    *(" every answer ", " each answer ", " every reply ", " every response ", " any answer ", " its reply "),
)
_MACHINES = (
    *(
        " language model",
        " ai assistant",
        " ai model",
        " ai system",
        " chatbot",
        " llm ",
        " llms ",
        " an ai ",
    ),
    *(" the assistant ", " dear assistant ", " gpt "),
)
_ADDRESSED = (
    *(
        " you ",
        " your ",
        " note to ",
        " instruction",
        " that read",
        " who read",
        " reading this ",
        " its reply ",
    ),
    *(" its answer ", " its response "),
)
_ROLES = (
    *(" you are now ", " you will now act ", " act as ", " pretend to be ", " pretend that you are "),
    *(" you are no longer ", " roleplay as "),
)
_OWN_RULES = (
    *(" system prompt", " hidden prompt", " initial prompt", " your restrictions "),
    *(" your guidelines ", " safety filter", " developer mode ", " unrestricted mode ", " jailbreak"),
)
_ASKED = (
    *(" you are asked ", " you re asked ", " anyone asks ", " someone asks ", " somebody asks "),
    *(" user asks ", " users ask ", " asked about this ", " asked about any ", " question is about "),
)
_NOT_THERE = (
    *(" documents do not ", " document does not ", " documents don t ", " sources do not ", " no answer "),
    *(" not in the documents ", " cannot answer ", " unable to answer "),
)
_ALL_QUESTIONS = (
    *(" every question", " any question", " all questions", " each question", " all other questions"),
    *(" everything with ", " whatever is asked "),
)
_EXACTLY = (
    *(" and nothing else ", " nothing but ", " the exact words ", " the exact phrase ", " the phrase "),
    *(" word for word ", " exactly the words ", " the following words "),
)

ENGLISH: tuple[Rule, ...] = (
    (70, (_DROP, _EARLIER, _INSTRUCTIONS)),
    (70, (SAY, _THE_REPLY)),
    (160, (_MACHINES, _ADDRESSED, SAY)),
    (120, (_ROLES, (" answer", " repl", " respon", " say ", " rules ", " restriction", " instruction"))),
    (80, ((" from now on ", " henceforth "), (" answer", " repl", " respond ", " say ", " output "))),
    (80, ((" your new instructions ", " your new task ", " your real task ", " your actual task "), SAY)),
    (80, (_OWN_RULES, (" reveal ", " repeat ", " lifted ", " enabled ", " your ", " activated ", " print "))),
    (140, ((" if ", " when ", " whenever ", " should "), _ASKED, SAY)),
    (70, ((" say ", " say that ", " answer ", " reply ", " respond ", " claim "), _NOT_THERE)),
    (90, ((" answer", " repl", " respon"), _ALL_QUESTIONS, (" is ", " are ", " with ", " say", " only "))),
    (60, (SAY, _EXACTLY)),
    (30, ((" always answer ", " always reply ", " you only ever say ", " repeat after me "),)),
    (120, ((" base64 ",), (" decode ",), (" follow ", " obey ", " instruction", " do what "))),
    (60, ((" note to ", " message to ", " instructions for ", " instruction for "), (*_MACHINES, " ais "))),
)

GERMAN: tuple[Rule, ...] = (
    (
        70,
        (
            (" ignorier", " missachte", " vergiss ", " vergessen sie "),
            (" anweisung", " instruktion", " regel"),
        ),
    ),
    (
        80,
        (
            (
                " deine antwort",
                " deiner antwort",
                " ihrer antwort ",
                " jede antwort",
                " die zusammenfassung muss ",
            ),
            (" schreib", " füg", " nenn", " beginn", " enthalten ", " erwähn", " gib "),
        ),
    ),
    (120, ((" sprachmodell", " ki assistent", " als ki "), (" du ", " musst ", " hinweis an ", " muss "))),
    (
        120,
        (
            (" du bist jetzt ", " du bist nun ", " ab jetzt ", " ab sofort "),
            (" antwort", " beantwort", " regel"),
        ),
    ),
    (120, ((" wenn du ", " falls du "), (" gefragt ",), (" antworte ", " sag", " schreib"))),
    (70, ((" sag ", " sage ", " antworte "), (" dokumente ",), (" nicht ",))),
    (120, ((" base64 ",), (" dekodier", " entschlüssel"), (" befolg", " anweisung"))),
)
FRENCH: tuple[Rule, ...] = (
    (
        80,
        (
            (
                " ignore ",
                " ignorez ",
                " oublie ",
                " oubliez ",
                " ne tiens pas compte ",
                " ne tenez pas compte ",
            ),
            (" toutes ", " tes ", " les ", " la ", " du ", " vos "),
            (" instruction", " consigne", " règles ", " ci dessus ", " question que j "),
        ),
    ),
    (
        80,
        (
            (" ta réponse", " votre réponse", " ton résumé", " votre résumé", " chaque réponse"),
            (" écri", " mentionn", " ajout", " termin", " commenc", " inclu"),
        ),
    ),
    (100, ((" modèle de langage ", " assistant "), (" tu dois ", " vous devez "))),
    (
        100,
        (
            (" tu es maintenant ", " à partir de maintenant ", " ta nouvelle tâche "),
            (" répond", " dis ", " écri"),
        ),
    ),
    (
        80,
        (
            (" invite système ", " tes consignes ", " tes instructions "),
            (" révèl", " affich", " montr", " ignor"),
        ),
    ),
    (
        60,
        (
            (" réponds ", " répondez "),
            (" toutes les questions ", " chaque question ", " uniquement ", " exactement "),
        ),
    ),
)
SPANISH: tuple[Rule, ...] = (
    (
        70,
        (
            (" ignora ", " ignore ", " olvida ", " omite "),
            (" las ", " todas ", " tus ", " sus "),
            (" instruccion", " indicacion", " reglas "),
        ),
    ),
    (
        80,
        (
            (" tu respuesta", " su respuesta", " cada respuesta", " en la respuesta ", " tu resumen"),
            (" escrib", " añad", " incluy", " menciona", " empie", " termina ", " copia "),
        ),
    ),
    (100, ((" modelo de lenguaje ", " asistente "), (" debes ", " tienes que "))),
    (
        120,
        (
            (" a partir de ahora ", " ahora eres ", " modo desarrollador ", " tus restricciones "),
            (" respond", " di "),
        ),
    ),
    (60, ((" responde siempre ", " responde solo ", " responde únicamente ", " instrucciones responde "),)),
    (70, ((" di que ", " responde que "), (" documentos ",), (" no ",))),
)
CHINESE: tuple[Rule, ...] = (
    (30, (("忽略", "无视", "忘记", "忘掉"), ("指令", "指示", "提示", "规则"))),
    (
        30,
        (
            ("你的回答", "你的回复", "每个回答", "回复中", "回答中", "你的摘要"),
            ("写", "说", "输出", "加入", "包含", "开头", "重复"),
        ),
    ),
    (
        40,
        (
            ("助手", "语言模型", "人工智能"),
            ("必须", "应当", "请", "你"),
            ("回复", "回答", "输出", "说", "加入"),
        ),
    ),
    (30, (("从现在起", "你现在是", "开发者模式"), ("回答", "回复", "说", "输出"))),
    (30, (("系统提示",), ("透露", "显示", "输出"))),
    (30, (("所有问题", "每个问题"), ("回复", "回答", "答案"), ("都", "是"))),
    (10, (("你只能说", "只能回答"),)),
)
RULES: tuple[Rule, ...] = (*ENGLISH, *GERMAN, *FRENCH, *SPANISH, *CHINESE)

# What has to stand behind a forged turn ("System: …") for it to be one.
TURN_WORDS = (
    *(" answer", " repl", " respond", " instruction", " rules ", " say ", " write ", " output ", " sure "),
    *(
        " of course ",
        " certainly ",
        " antwort",
        " gerne ",
        " répon",
        " respond",
        " respuesta",
        "回答",
        "回复",
    ),
)
