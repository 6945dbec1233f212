//! German, Spanish, French and Chinese: a few plain ways each.

use crate::preflight::phrases::Phrases;
use crate::preflight::phrases::ProposalPhrases;

pub static GERMAN: Phrases = Phrases {
    subjects: &["Staging-Server", "Release-Zweig", "Standard-Cluster"],
    facts: &[
        "der {s} ist übrigens {v}",
        "Für den {s} nimm bitte {v}.",
        "unser {s} läuft seit Mai auf {v}",
    ],
    corrections: &[
        "sorry, vertan: der {s} ist {n}, nicht {o}",
        "der {s} ist gestern auf {n} umgezogen, {o} ist abgeschaltet",
        "Nimm beim {s} doch lieber {n} statt {o}.",
    ],
    obligations: &[
        "kannst du nächste Woche das Zertifikat von {x} erneuern?",
        "und vergiss {x} nicht, das muss vor dem Release noch aufgeräumt werden",
        "{x} braucht später noch einen Eintrag im Changelog",
    ],
    done: &["{x} hab ich heute früh erledigt", "{x} kannst du streichen, ist fertig"],
    questions: &[
        (
            "wer kümmert sich eigentlich um {x}?",
            "Um {x} kümmert sich das Plattform-Team.",
        ),
        (
            "weißt du, ob {x} bei Timeouts wiederholt",
            "Nachgesehen: {x} wiederholt dreimal.",
        ),
    ],
    non_answers: &["Das weiß ich noch nicht.", "Da müsste ich erst nachsehen."],
    decisions: &[
        "ok, wir nehmen {x}, {r} war einfach zu langsam",
        "Nach Rücksprache bleibt es bei {x}, weil {r} doppelt so teuer wäre.",
    ],
    constraints: &[
        "Finger weg von {x}, solange ich nichts anderes sage",
        "Vor jedem Commit bitte den Linter von {x} laufen lassen, ausnahmslos.",
    ],
    proposals: &[ProposalPhrases {
        offer: "Ich könnte als Nächstes {x} aufräumen. Soll ich?",
        accepted: "ja, aber lass {r} in Ruhe",
        passed_over: "ok, mach erst mal einen neuen Branch",
    }],
    addresses: &["geh mal auf den Server {a}", "der alte Server {a} antwortet noch"],
    understood: &["Alles klar.", "Verstanden, merke ich mir."],
};

pub static SPANISH: Phrases = Phrases {
    subjects: &["servidor de pruebas", "cubo de copias", "clúster principal"],
    facts: &[
        "por cierto, el {s} es {v}",
        "Para el {s} usa {v}.",
        "ahora mismo el {s} es {v}",
    ],
    corrections: &[
        "perdón, me equivoqué: el {s} es {n}, no {o}",
        "ayer movieron el {s} a {n} y {o} ya está apagado",
        "mejor pon {n} en el {s} en vez de {o}",
    ],
    obligations: &[
        "¿puedes renovar el certificado de {x} la semana que viene?",
        "y que no se nos pase limpiar {x} antes de publicar",
        "{x} todavía necesita una entrada en el registro de cambios",
    ],
    done: &["lo de {x} ya lo hice esta mañana", "{x} listo, táchalo"],
    questions: &[
        ("¿quién lleva {x} ahora?", "{x} lo lleva el equipo de plataforma."),
        (
            "no sé si {x} reintenta cuando hay timeout",
            "Lo miré: {x} reintenta tres veces.",
        ),
    ],
    non_answers: &["Todavía no lo sé.", "Tendría que mirarlo."],
    decisions: &[
        "vale, nos quedamos con {x}, {r} iba demasiado lento",
        "Lo hablé con el equipo y será {x}, porque {r} cuesta el doble.",
    ],
    constraints: &[
        "{x} ni tocarlo hasta que yo lo diga",
        "Antes de cada commit pasa el linter de {x}, sin excepciones.",
    ],
    proposals: &[ProposalPhrases {
        offer: "Puedo limpiar {x} a continuación. ¿Lo hago?",
        accepted: "sí, pero deja {r} como está",
        passed_over: "vale, sube primero una rama nueva",
    }],
    addresses: &["entra en el servidor {a} y mira", "el servidor {a} todavía responde"],
    understood: &["Entendido.", "Vale, lo tengo en cuenta."],
};

pub static FRENCH: Phrases = Phrases {
    subjects: &["serveur de test", "cluster principal", "stockage de secours"],
    facts: &[
        "au fait, le {s} c'est {v}",
        "Pour le {s}, prends {v}.",
        "en ce moment le {s} est {v}",
    ],
    corrections: &[
        "pardon, je me suis trompé : le {s} c'est {n}, pas {o}",
        "hier ils ont déplacé le {s} vers {n}, {o} est coupé",
        "mets plutôt {n} pour le {s}, à la place de {o}",
    ],
    obligations: &[
        "tu peux renouveler le certificat de {x} la semaine prochaine ?",
        "et pense à nettoyer {x} avant la livraison",
        "il manque encore une ligne sur {x} dans le journal des modifications",
    ],
    done: &["pour {x} c'est fait, je m'en suis occupé ce matin", "{x} : terminé"],
    questions: &[
        (
            "c'est qui qui s'occupe de {x} ?",
            "L'équipe plateforme s'occupe de {x}.",
        ),
        (
            "je me demande si {x} réessaie après un timeout",
            "J'ai vérifié : {x} réessaie trois fois.",
        ),
    ],
    non_answers: &["Je ne sais pas encore.", "Il faudrait que je regarde."],
    decisions: &[
        "bon, on part sur {x}, {r} était trop lent",
        "Vu avec l'équipe : ce sera {x}, parce que {r} coûte deux fois plus cher.",
    ],
    constraints: &[
        "touche pas à {x} tant que je ne l'ai pas dit",
        "Avant chaque commit, passe le linter de {x}, sans exception.",
    ],
    proposals: &[ProposalPhrases {
        offer: "Je peux nettoyer {x} ensuite. Je le fais ?",
        accepted: "oui, mais laisse {r} tranquille",
        passed_over: "ok, pousse d'abord une nouvelle branche",
    }],
    addresses: &["connecte-toi au serveur {a}", "le serveur {a} répond encore"],
    understood: &["Compris.", "D'accord, je note."],
};

pub static CHINESE: Phrases = Phrases {
    subjects: &["测试服务器", "默认集群", "备份存储"],
    facts: &["顺便说一下，{s}是 {v}", "{s}先用 {v} 吧", "我们现在的{s}就是 {v}。"],
    corrections: &[
        "不好意思说错了，{s}是 {n}，不是 {o}",
        "{s}昨天搬到 {n} 了，{o} 已经关了",
        "{s}还是换成 {n} 吧，别用 {o}",
    ],
    obligations: &[
        "下周帮我把 {x} 的证书续一下",
        "发布之前记得把 {x} 收拾干净",
        "{x} 的更新日志回头还得补上",
    ],
    done: &["{x} 我早上弄好了", "{x} 已经搞定，可以划掉了"],
    questions: &[
        ("{x} 现在归谁管？", "{x} 归平台组管。"),
        ("不知道 {x} 超时会不会重试", "查过了，{x} 会重试三次。"),
    ],
    non_answers: &["现在还不清楚。", "这个我得查一下。"],
    decisions: &[
        "那就定 {x} 了，{r} 实在太慢",
        "跟团队商量过了，用 {x}，因为 {r} 要贵一倍。",
    ],
    constraints: &[
        "{x} 先别动，等我说了再说",
        "每次提交前都要跑一遍 {x} 的检查，没有例外。",
    ],
    proposals: &[ProposalPhrases {
        offer: "接下来我可以清理 {x}，要做吗？",
        accepted: "可以，但是别动 {r}",
        passed_over: "好，先推一个新分支",
    }],
    addresses: &["登录服务器 {a} 看一下", "旧服务器 {a} 还能访问"],
    understood: &["明白了。", "好的，记下了。"],
};
