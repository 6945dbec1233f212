//! The marks by which agent programs set off what they put into messages of the user role, as data.
//!
//! A mark only ever lowers trust, so forging one gains nothing. Where a program wraps the person's words, the wrapper is its own
//! and the words are the person's.

use crate::transcript::message::Author;

/// Whose words stand between a tag and its closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// All of it is this author's.
    By(Author),
    /// The person's words, in a wrapper of the program.
    Person,
    /// The person's words in a wrapper outside of which the person says nothing.
    PersonOnly,
    /// The name of a command that the person typed.
    CommandName,
    /// What the person typed behind the name of a command.
    CommandArguments,
    /// A shell command that the person ran, in `<command>`, and what came of it.
    Shell,
}

/// A tag: its name, what must stand behind the name, and whose words it holds.
#[derive(Debug)]
pub(super) struct HostTag {
    /// The name as spelled; one that ends in `*` is a beginning of names.
    pub name: &'static str,
    /// How the attributes begin, for names that people use as well.
    pub attributes: &'static [&'static str],
    pub inside: Inside,
}

const fn host(name: &'static str) -> HostTag {
    tag(name, Inside::By(Author::Host))
}

const fn tag(name: &'static str, inside: Inside) -> HostTag {
    HostTag {
        name,
        attributes: &[],
        inside,
    }
}

const fn attached(name: &'static str, attributes: &'static [&'static str]) -> HostTag {
    HostTag {
        name,
        attributes,
        inside: Inside::By(Author::Host),
    }
}

pub(super) const TAGS: &[HostTag] = &[
    // Claude Code.
    host("system-reminder"),
    host("task-notification"),
    host("user-prompt-submit-hook"),
    host("session-start-hook"),
    host("command-message"),
    host("command-contents"),
    tag("command-name", Inside::CommandName),
    tag("command-args", Inside::CommandArguments),
    host("local-command-caveat"),
    host("local-command-stdout"),
    host("local-command-stderr"),
    tag("bash-input", Inside::Person),
    tag("bash-stdout", Inside::By(Author::Tool)),
    tag("bash-stderr", Inside::By(Author::Tool)),
    host("ide_opened_file"),
    host("ide_selection"),
    host("ide_diagnostics"),
    host("new-diagnostics"),
    host("teammate-message"),
    host("cross-session-message"),
    host("mcp-resource"),
    host("persisted-output"),
    // Codex.
    host("environment_context"),
    host("user_instructions"),
    host("permissions"),
    host("context_window*"),
    host("collaboration_mode"),
    host("turn_aborted"),
    host("skill"),
    host("skills_instructions"),
    host("apps_instructions"),
    host("plugins_instructions"),
    host("INSTRUCTIONS"),
    host("subagent_notification"),
    host("hook_prompt"),
    host("model_switch"),
    host("personality_spec"),
    host("realtime_conversation"),
    host("inter_agent_message"),
    tag("user_shell_command", Inside::Shell),
    attached("image", &["name=["]),
    // Cline and Roo.
    host("environment_details"),
    tag("task", Inside::Person),
    tag("feedback", Inside::Person),
    tag("answer", Inside::Person),
    tag("user_message", Inside::Person),
    attached("file_content", &["path="]),
    attached("folder_content", &["path="]),
    attached("url_content", &["url="]),
    host("workspace_diagnostics"),
    host("git_working_state"),
    attached("git_commit", &["hash="]),
    attached("explicit_instructions", &["type="]),
    // Cursor and Copilot.
    tag("user_query", Inside::PersonOnly),
    tag("userRequest", Inside::PersonOnly),
    // Gemini CLI, Goose, Hermes, OpenHands, pi, opencode.
    host("session_context"),
    host("loaded_context"),
    host("hook_context"),
    host("info-msg"),
    host("memory-context"),
    host("SYSTEM_NOTICE"),
    host("EXTRA_INFO"),
    host("RUNTIME_INFORMATION"),
    host("REPOSITORY_INFO"),
    host("REPOSITORY_INSTRUCTIONS"),
    host("CONVERSATION_INSTRUCTIONS"),
    attached("file", &["name=\"", "path=\""]),
    // What an earlier compaction wrote.
    tag("state_snapshot", Inside::By(Author::Summary)),
];

/// How far a text reaches that opens with known words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The words themselves.
    Words,
    /// To the bracket that closes it.
    Bracket,
    /// A bracket that quotes what the person said aloud.
    SpokenBracket,
    /// To the next paragraph that reads like a person's.
    Paragraph,
    /// To the end of the text.
    Text,
    /// To the end of the text; the next text of the message is this author's.
    TextAndNext(Author),
    /// Through the line with these words; without them to the end of the text.
    Through(&'static str),
    /// Through these words, which the person's may follow in the same line; without them to the end of the text.
    Behind(&'static str),
}

/// Words that open a stretch by somebody other than the person.
#[derive(Debug)]
pub(super) struct HostOpening {
    pub words: &'static str,
    pub author: Author,
    pub extent: Extent,
    /// Whether it counts at the beginning of a line too, not only of the text.
    pub within: bool,
}

const fn whole(words: &'static str, author: Author) -> HostOpening {
    HostOpening {
        words,
        author,
        extent: Extent::Text,
        within: false,
    }
}

const fn opening(words: &'static str, extent: Extent) -> HostOpening {
    HostOpening {
        words,
        author: Author::Host,
        extent,
        within: true,
    }
}

const fn summary(words: &'static str) -> HostOpening {
    HostOpening {
        words,
        author: Author::Summary,
        extent: Extent::Through("--- END OF CONTEXT SUMMARY"),
        within: false,
    }
}

/// Closes the files that a Gemini CLI prompt refers to.
pub(super) const REFERENCES_END: &str = "--- End of content ---";
const REQUEST_HEADING: &str = "## My request for Codex:";
const SKILL_REQUEST: &str = "instruction alongside the skill invocation:";

pub(super) const OPENINGS: &[HostOpening] = &[
    // Summaries of earlier compactions.
    whole(
        "This session is being continued from a previous conversation",
        Author::Summary,
    ),
    summary("[CONTEXT COMPACTION"),
    summary("[CONTEXT SUMMARY]:"),
    summary("[PRIOR CONTEXT"),
    whole(
        "Another language model started to solve this problem and produced a summary",
        Author::Summary,
    ),
    whole("Context summary:\n", Author::Summary),
    whole(
        "The conversation history before this point was compacted into the following summary:",
        Author::Summary,
    ),
    whole(
        "The following is a summary of a branch that this conversation came back from:",
        Author::Summary,
    ),
    // What programs ask for when they compact.
    whole("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", Author::Host),
    whole(
        "Your task is to create a detailed summary of the conversation so far",
        Author::Host,
    ),
    whole("You are performing a CONTEXT CHECKPOINT COMPACTION.", Author::Host),
    // Claude Code.
    opening(
        "Caveat: The messages below were generated by the user while running local commands",
        Extent::Paragraph,
    ),
    opening("[Request interrupted by user", Extent::Bracket),
    opening("[Image: source:", Extent::Bracket),
    opening("[Image: original", Extent::Bracket),
    whole("Base directory for this skill:", Author::Host),
    opening("Stop hook feedback:", Extent::Paragraph),
    opening("Operation stopped by hook", Extent::Paragraph),
    // Codex.
    opening("# AGENTS.md instructions", Extent::Behind("</INSTRUCTIONS>")),
    opening("# Context from my IDE setup:", Extent::Behind(REQUEST_HEADING)),
    opening("# Files mentioned by the user:", Extent::Behind(REQUEST_HEADING)),
    opening(REQUEST_HEADING, Extent::Words),
    // Gemini CLI.
    whole(
        "This is the Gemini CLI. We are setting up the context for our chat.",
        Author::Host,
    ),
    opening("--- Content from referenced files ---", Extent::Through(REFERENCES_END)),
    // Hermes.
    opening("[SYSTEM: The user has invoked the \"", Extent::Behind(SKILL_REQUEST)),
    opening("[IMPORTANT: The user has invoked the \"", Extent::Behind(SKILL_REQUEST)),
    opening("[SYSTEM: The user launched this", Extent::Behind(SKILL_REQUEST)),
    opening("[SYSTEM: ", Extent::Bracket),
    opening("[System: ", Extent::Bracket),
    opening("[System note: ", Extent::Bracket),
    opening("[Runtime note: ", Extent::Bracket),
    opening("[Note: model was just switched", Extent::Bracket),
    opening("[IMPORTANT: You are running as a scheduled cron job", Extent::Bracket),
    opening("[IMPORTANT: Background process", Extent::Bracket),
    opening("[ASYNC DELEGATION COMPLETE", Extent::Bracket),
    opening("[Replying to: ", Extent::Bracket),
    opening("[The user sent an image~", Extent::Bracket),
    opening(
        "[The user sent a voice message~ Here's what they said: \"",
        Extent::SpokenBracket,
    ),
    whole(
        "[Your active task list was preserved across context compression]",
        Author::Host,
    ),
    // opencode.
    opening(
        "Called the Read tool with the following input:",
        Extent::TextAndNext(Author::Tool),
    ),
    whole(
        "Summarize the task tool output above and continue with your task.",
        Author::Host,
    ),
    whole("The following tool was executed by the user", Author::Host),
];

/// How a text begins in which everything outside of a wrapper for the person's words is by somebody else.
const FRAMED: &[(&str, Author)] = &[
    ("[ERROR] You did not use a tool", Author::Host),
    ("[TASK RESUMPTION]", Author::Host),
];

/// The events after which Claude Code names its hooks.
const HOOK_EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Notification",
    "PreCompact",
    "PostCompact",
    "TeammateIdle",
    "TaskCompleted",
];

/// What Claude Code says that a hook did.
const HOOK_OUTCOMES: &[&str] = &[
    "success:",
    "additional context:",
    "blocking error from command:",
    "stopped continuation:",
    "feedback:",
    "error:",
    "output:",
    "says:",
];

/// Commands to the program itself: whoever types them tells the agent nothing.
pub(super) const PROGRAM_COMMANDS: &[&str] = &[
    "add-dir",
    "agents",
    "autocompact",
    "bashes",
    "bug",
    "clear",
    "config",
    "context",
    "cost",
    "doctor",
    "effort",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "files",
    "fork",
    "help",
    "hooks",
    "ide",
    "install-github-app",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "output-style",
    "permissions",
    "plugin",
    "plugins",
    "privacy-settings",
    "quit",
    "release-notes",
    "reload-plugins",
    "remote-control",
    "rename",
    "reset",
    "resume",
    "rewind",
    "sandbox",
    "settings",
    "skills",
    "stats",
    "status",
    "statusline",
    "stickers",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
    "voice",
];

/// Commands to the program whose arguments are meant for the agent all the same.
pub(super) const PROGRAM_COMMANDS_WITH_WORDS: &[&str] = &["compact"];

/// Whose words a text is full of where only wrappers hold the person's.
pub(super) fn framing_author(opening: &str) -> Option<Author> {
    let framed = FRAMED.iter().find(|(words, _)| opening.starts_with(words));
    if let Some((_, author)) = framed {
        return Some(*author);
    }
    // Without native tools a result travels as text: `[tool for '…'] Result:`.
    let line = opening.lines().next().unwrap_or_default();
    let name = line.strip_prefix('[')?;
    let length = name
        .find(|letter: char| !(letter.is_ascii_lowercase() || letter == '_'))
        .unwrap_or(0);
    let rest = &name[length..];
    let is_named = length > 0 && (rest.starts_with("] Result:") || rest.starts_with(" for '"));
    (is_named && rest.contains("] Result:")).then_some(Author::Tool)
}

/// Whether a text opens with the name of a hook: `PostToolUse:Edit hook …`.
pub(super) fn names_hook(text: &str) -> bool {
    let known = HOOK_EVENTS.iter().filter_map(|event| text.strip_prefix(event));
    known
        .map(|rest| rest.split(' ').next().map_or(rest, |matcher| &rest[matcher.len()..]))
        .any(|rest| {
            let said = rest.strip_prefix(" hook ").unwrap_or_default();
            HOOK_OUTCOMES.iter().any(|outcome| said.starts_with(outcome))
        })
}
