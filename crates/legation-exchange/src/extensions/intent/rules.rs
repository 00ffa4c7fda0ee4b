//! The rules: which words, topics and signals speak for what, and how much.

use super::Category;
use super::Category::{
    CasualConversation, CreativeWork, CrisisSupport, EmotionalProcessing, HealthCheck, Learning, PersonalExploration,
    ProfessionalInquiry, RoutineCheck, UrgentTask,
};
use crate::extensions::personal::Dimension;

/// What a rule looks for.
pub(super) enum Cue {
    /// Any of these words or phrases in the text.
    Says(&'static [&'static str]),
    /// Any of these words in the topic or the ontology.
    About(&'static [&'static str]),
    /// One of these signals.
    Signal(Dimension, &'static [&'static str]),
    /// A text that asks.
    Asks,
    /// A text of few words.
    IsShort,
}

/// A rule.
pub(super) struct Rule {
    /// Its name, which is told.
    pub(super) id: &'static str,
    /// What it speaks for.
    pub(super) category: Category,
    /// How much.
    pub(super) points: u32,
    /// What it looks for.
    pub(super) cue: Cue,
}

const fn rule(id: &'static str, category: Category, points: u32, cue: Cue) -> Rule {
    Rule { id, category, points, cue }
}

/// All of them.
pub(super) const RULES: &[Rule] = &[
    rule(
        "crisis-words",
        CrisisSupport,
        100,
        Cue::Says(&[
            "suicide",
            "suicidal",
            "kill myself",
            "end my life",
            "want to die",
            "hurt myself",
            "harm myself",
            "self harm",
            "cannot go on",
            "can t go on",
            "no reason to live",
        ]),
    ),
    rule("crisis-topic", CrisisSupport, 40, Cue::About(&["crisis", "emergency", "suicide"])),
    rule(
        "urgent-words",
        UrgentTask,
        30,
        Cue::Says(&[
            "urgent",
            "urgently",
            "asap",
            "immediately",
            "right now",
            "at once",
            "deadline",
            "outage",
            "is down",
            "emergency",
            "as soon as possible",
        ]),
    ),
    rule("urgent-order", UrgentTask, 10, Cue::Says(&["fix", "deploy", "restart", "send it", "need this", "must be"])),
    rule("urgent-signal", UrgentTask, 25, Cue::Signal(Dimension::PerceivedUrgency, &["pressured", "critical"])),
    rule(
        "feeling-words",
        EmotionalProcessing,
        30,
        Cue::Says(&[
            "i feel",
            "feeling",
            "sad",
            "angry",
            "lonely",
            "grief",
            "anxious",
            "overwhelmed",
            "upset",
            "afraid",
            "heartbroken",
            "frustrated",
        ]),
    ),
    rule("feeling-signal", EmotionalProcessing, 25, Cue::Signal(Dimension::EmotionalTone, &["tense", "frustrated"])),
    rule(
        "health-words",
        HealthCheck,
        30,
        Cue::Says(&[
            "pain",
            "headache",
            "fever",
            "symptom",
            "symptoms",
            "doctor",
            "sick",
            "dizzy",
            "medication",
            "blood pressure",
            "my health",
        ]),
    ),
    rule("health-topic", HealthCheck, 20, Cue::About(&["health", "medicine", "medical"])),
    rule("health-signal", HealthCheck, 25, Cue::Signal(Dimension::BodySignals, &["discomfort", "pain", "unwell"])),
    rule(
        "self-words",
        PersonalExploration,
        25,
        Cue::Says(&[
            "who am i",
            "my values",
            "my purpose",
            "meaning of my",
            "about myself",
            "what do i want",
            "my life",
            "my identity",
        ]),
    ),
    rule("self-signal", PersonalExploration, 15, Cue::Signal(Dimension::CognitiveState, &["reflective"])),
    rule(
        "making-words",
        CreativeWork,
        30,
        Cue::Says(&[
            "write a poem",
            "poem",
            "story",
            "song",
            "lyrics",
            "novel",
            "draw",
            "paint",
            "compose",
            "brainstorm",
            "screenplay",
        ]),
    ),
    rule("making-topic", CreativeWork, 20, Cue::About(&["art", "fiction", "music", "poems", "poetry", "writing"])),
    rule(
        "learning-words",
        Learning,
        30,
        Cue::Says(&[
            "explain", "teach me", "learn", "how does", "how do i", "what is", "why does", "tutorial", "homework",
            "lesson",
        ]),
    ),
    rule("learning-topic", Learning, 20, Cue::About(&["education", "school", "study", "course"])),
    rule("learning-signal", Learning, 10, Cue::Signal(Dimension::CognitiveState, &["focused"])),
    rule(
        "work-words",
        ProfessionalInquiry,
        30,
        Cue::Says(&[
            "client",
            "contract",
            "invoice",
            "quarterly",
            "revenue",
            "stakeholder",
            "stakeholders",
            "report",
            "project",
            "customer",
            "proposal",
            "compliance",
            "budget",
            "meeting",
        ]),
    ),
    rule(
        "work-topic",
        ProfessionalInquiry,
        20,
        Cue::About(&["business", "finance", "law", "legal", "work", "engineering"]),
    ),
    rule("work-question", ProfessionalInquiry, 5, Cue::Asks),
    rule(
        "check-words",
        RoutineCheck,
        30,
        Cue::Says(&[
            "status",
            "check in",
            "any news",
            "any updates",
            "daily",
            "as usual",
            "still running",
            "heartbeat",
            "ping",
            "all good",
        ]),
    ),
    rule("check-topic", RoutineCheck, 20, Cue::About(&["status", "monitoring", "health check"])),
    rule(
        "talk-words",
        CasualConversation,
        25,
        Cue::Says(&[
            "hello",
            "hi",
            "hey",
            "how are you",
            "good morning",
            "good evening",
            "thanks",
            "thank you",
            "lol",
            "weekend",
            "weather",
        ]),
    ),
    rule("talk-short", CasualConversation, 5, Cue::IsShort),
];
