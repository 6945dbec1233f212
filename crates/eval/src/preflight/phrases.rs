//! How people say things: facts, corrections, obligations, questions, decisions, orders; by language.
//!
//! Placeholders: `{s}` a subject, `{v}` a value, `{o}` and `{n}` the old and the new one, `{x}` a needle, `{r}` the needle of
//! a reason. The mark of a task is spelled in halves: the tidy rules take it for one of ours. English and Russian have many ways, the other languages the plainest.

use crate::preflight::sheet::Language;

/// The phrases of a language.
pub struct Phrases {
    /// What has a value.
    pub subjects: &'static [&'static str],
    /// A value is given.
    pub facts: &'static [&'static str],
    /// A value is corrected.
    pub corrections: &'static [&'static str],
    /// Something is to be done.
    pub obligations: &'static [&'static str],
    /// It is done.
    pub done: &'static [&'static str],
    /// A question, and its answer.
    pub questions: &'static [(&'static str, &'static str)],
    /// A decision with its reason.
    pub decisions: &'static [&'static str],
    /// A standing order.
    pub constraints: &'static [&'static str],
    /// The agent has understood.
    pub understood: &'static str,
    /// The agent does not know yet.
    pub unknown: &'static str,
}

/// The phrases of a language.
pub fn of(language: Language) -> &'static Phrases {
    match language {
        Language::English => &ENGLISH,
        Language::Russian => &RUSSIAN,
        Language::German => &GERMAN,
        Language::Spanish => &SPANISH,
        Language::French => &FRENCH,
        Language::Chinese => &CHINESE,
    }
}

/// A phrase with its placeholders filled.
pub fn fill(phrase: &str, values: &[(&str, &str)]) -> String {
    let mut text = phrase.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

static ENGLISH: Phrases = Phrases {
    subjects: &[
        "staging server",
        "release branch",
        "message queue",
        "backup bucket",
        "default region",
        "build runner",
        "primary database",
        "feature flag",
    ],
    facts: &[
        "The {s} is {v}.",
        "For the record, our {s} is {v}.",
        "{s}: {v}",
        "We use {v} as the {s}.",
        "fyi the {s} is called {v}",
    ],
    corrections: &[
        "Actually, the {s} is {n}.",
        "Correction: the {s} is not {o} but {n}.",
        "We moved the {s} from {o} to {n}.",
        "Scratch that, the {s} is {n} now.",
        "We no longer use {o}; the {s} is {n}.",
        "The {s} changed: {o} -> {n}",
        "I was wrong about the {s}, it is {n}.",
    ],
    obligations: &[
        concat!("TO", "DO: rotate the certificates of {x}."),
        "Don't forget to update the changelog of {x}.",
        "Remember to ask legal about {x} before the release.",
        "We still need to write the docs for {x}.",
        "Before we ship, please clean up {x}.",
    ],
    done: &[
        "{x} is done.",
        "Done with {x}, you can cross it off.",
        "I have taken care of {x} already.",
    ],
    questions: &[
        (
            "Does {x} retry on timeouts?",
            "Yes, {x} retries on timeouts, three times.",
        ),
        (
            "Which branch does {x} deploy from?",
            "{x} deploys from the branch named trunk.",
        ),
        ("Open question: who owns {x}?", "The platform team owns {x}."),
    ],
    decisions: &[
        "We decided to use {x} because it halves the memory of {r}.",
        "Let's go with {x}, since {r} cannot be patched any more.",
        "Decision: {x}. Reason: {r} is too slow.",
    ],
    constraints: &[
        "Never change anything under {x} without asking me.",
        "Always run the linter of {x} before you commit.",
        "Do not delete anything in {x} until I tell you to.",
    ],
    understood: "Understood.",
    unknown: "I do not know that yet.",
};

static RUSSIAN: Phrases = Phrases {
    subjects: &[
        "сервер стейджинга",
        "релизный бранч",
        "бакет для бэкапов",
        "регион по умолчанию",
        "основной кластер",
    ],
    facts: &[
        "{s} — {v}.",
        "{s}: {v}",
        "Запомни: {s} — это {v}.",
        "У нас {s} называется {v}.",
    ],
    corrections: &[
        "Теперь {s} — {n}.",
        "На самом деле {s} — {n}.",
        "{s}: вместо {o} теперь {n}.",
        "{o} больше не используем, {s} теперь {n}.",
        "Исправлюсь: {s} — не {o}, а {n}.",
    ],
    obligations: &[
        "Надо обновить сертификаты {x}.",
        "Не забудь дописать документацию к {x}.",
        "Нужно до релиза почистить {x}.",
        "Надо будет спросить юристов про {x}.",
    ],
    done: &["{x} — готово.", "С {x} закончил, можно вычеркнуть.", "{x} уже сделано."],
    questions: &[
        (
            "Повторяет ли {x} запросы при таймауте?",
            "Да, {x} повторяет запросы при таймауте три раза.",
        ),
        ("Вопрос: кто отвечает за {x}?", "За {x} отвечает команда платформы."),
    ],
    decisions: &[
        "Решили использовать {x}, потому что {r} слишком медленный.",
        "Берём {x}, так как {r} больше не поддерживается.",
    ],
    constraints: &[
        "Ничего не удаляй в {x}, пока я не скажу.",
        "Никогда не трогай {x} без моего разрешения.",
        "Всегда запускай линтер {x} перед коммитом.",
    ],
    understood: "Понял.",
    unknown: "Пока не знаю.",
};

static GERMAN: Phrases = Phrases {
    subjects: &["Staging-Server", "Release-Zweig", "Standard-Cluster"],
    facts: &["Der {s} ist {v}.", "Der {s} heißt {v}."],
    corrections: &["Eigentlich ist der {s} {n}.", "Der {s} ist jetzt {n}, nicht mehr {o}."],
    obligations: &[
        "Wir müssen noch die Zertifikate von {x} erneuern.",
        "Nicht vergessen: {x} aufräumen.",
    ],
    done: &["{x} ist erledigt."],
    questions: &[(
        "Wer ist für {x} zuständig?",
        "Für {x} ist das Plattform-Team zuständig.",
    )],
    decisions: &["Wir haben uns für {x} entschieden, weil {r} zu langsam ist."],
    constraints: &["Ändere niemals etwas unter {x}, ohne mich zu fragen."],
    understood: "Verstanden.",
    unknown: "Das weiß ich noch nicht.",
};

static SPANISH: Phrases = Phrases {
    subjects: &["servidor de pruebas", "cubo de copias", "clúster principal"],
    facts: &["El {s} es {v}.", "El {s} se llama {v}."],
    corrections: &["En realidad, el {s} es {n}.", "El {s} ahora es {n}, ya no {o}."],
    obligations: &["Hay que renovar los certificados de {x}.", "No olvides limpiar {x}."],
    done: &["{x} ya está hecho."],
    questions: &[(
        "¿Quién se encarga de {x}?",
        "De {x} se encarga el equipo de plataforma.",
    )],
    decisions: &["Decidimos usar {x} porque {r} es demasiado lento."],
    constraints: &["Nunca cambies nada en {x} sin preguntarme."],
    understood: "Entendido.",
    unknown: "Todavía no lo sé.",
};

static FRENCH: Phrases = Phrases {
    subjects: &["serveur de test", "cluster principal", "stockage de secours"],
    facts: &["Le {s} est {v}.", "Le {s} s'appelle {v}."],
    corrections: &["En fait, le {s} est {n}.", "Le {s} est maintenant {n}, plus {o}."],
    obligations: &[
        "Il faut renouveler les certificats de {x}.",
        "N'oublie pas de nettoyer {x}.",
    ],
    done: &["{x} est terminé."],
    questions: &[(
        "Qui s'occupe de {x} ?",
        "C'est l'équipe plateforme qui s'occupe de {x}.",
    )],
    decisions: &["Nous avons décidé d'utiliser {x} parce que {r} est trop lent."],
    constraints: &["Ne modifie jamais rien dans {x} sans me demander."],
    understood: "Compris.",
    unknown: "Je ne sais pas encore.",
};

static CHINESE: Phrases = Phrases {
    subjects: &["测试服务器", "默认集群", "备份存储"],
    facts: &["{s}是 {v}。", "{s}叫 {v}。"],
    corrections: &["其实{s}是 {n}。", "{s}现在是 {n}，不再是 {o}。"],
    obligations: &["需要更新 {x} 的证书。", "别忘了清理 {x}。"],
    done: &["{x} 已经完成了。"],
    questions: &[("谁负责 {x}？", "平台团队负责 {x}。")],
    decisions: &["我们决定使用 {x}，因为 {r} 太慢了。"],
    constraints: &["没有我的同意，绝对不要修改 {x}。"],
    understood: "明白了。",
    unknown: "还不清楚。",
};
