//! The patterns that are built in: what each finds, how much that means, and why. What a phrase is, [`crate::phrase`]
//! says.

use crate::found::Severity::{self, High, Low, Medium};
use crate::phrase::Lists;

/// A pattern that is built in.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Its name.
    pub name: &'static str,
    /// How much it means, unless the settings say otherwise.
    pub severity: Severity,
    /// What it finds.
    pub explains: &'static str,
    /// The phrases, if it is made of phrases.
    pub(crate) phrases: &'static [&'static str],
}

const fn pattern(
    name: &'static str,
    severity: Severity,
    explains: &'static str,
    phrases: &'static [&'static str],
) -> Pattern {
    Pattern { name, severity, explains, phrases }
}

/// Lists of words that phrases name.
pub(crate) const LISTS: Lists = &[
    (
        "DROP",
        "ignore disregard forget override bypass overlook neglect discard abandon dismiss nullify ignoring disregarding forgetting",
    ),
    ("EARLIER", "previous prior above earlier preceding foregoing former past initial original existing previously"),
    ("INSTR", "instructions instruction prompt prompts directives directive guidelines guideline programming training"),
    (
        "RULES",
        "rules rule commands orders constraints restrictions limitations policies policy safeguards guardrails filters protocols directions guidance",
    ),
    ("ALL", "all any every"),
    ("YOUR", "your ur"),
    ("NOT", "not never dont don cannot shouldn mustn wont"),
    (
        "LEAK",
        "reveal print show repeat output display dump leak disclose tell give share send expose recite echo post exfiltrate forward email transmit paste upload",
    ),
    (
        "OVERSEER",
        "overseer overseers oversight operator operators supervisor supervisors reviewer reviewers moderator moderators auditor auditors",
    ),
    (
        "WATCHER",
        "overseer overseers operator operators supervisor supervisors reviewer reviewers moderator auditor human humans user users parent admin administrator",
    ),
    ("EVADE", "skip bypass avoid evade circumvent sidestep disable deactivate subvert"),
    ("LIFTED", "lifted waived removed suspended revoked void cancelled canceled rescinded disabled"),
    ("FREE", "dan unrestricted jailbroken unfiltered uncensored unbound unaligned amoral evil freed stan"),
    ("ROLE", "instructions role purpose identity persona goal objective mission task directive directives"),
    ("MODEL", "ai llm llms chatbot assistant assistants model models bot gpt claude agent agents"),
    // Other languages: to ignore, earlier, instructions.
    (
        "DROP_X",
        "ignoriere ignorieren vergiss missachte ignore ignorez oublie oubliez ignora ignorar ignorad olvida olvide ignori dimentica esqueca desconsidere negeer vergeet игнорируй игнорируйте забудь забудьте zignoruj ignoruj",
    ),
    (
        "EARLIER_X",
        "vorherigen vorigen bisherigen obigen fruheren precedentes precedente anteriores anterior previas precedenti precedente vorige eerdere предыдущие предыдущих прежние poprzednie",
    ),
    (
        "INSTR_X",
        "anweisungen anweisung instruktionen instructions consignes instrucciones ordenes instrucoes istruzioni instructies инструкции инструкций указания instrukcje",
    ),
    // What stands around talk about such texts, and before what somebody tells.
    (
        "TALK",
        "injection injections jailbreak jailbreaks attack attacks attacker attackers adversarial phrase phrases phrasing pattern patterns detector detectors classifier corpus dataset benchmark example examples scanner scanners payload payloads regex",
    ),
    (
        "TOLD",
        "told tells telling asked asks asking instructed instructs instructing tries tried trying attempts attempted attempting saying says said",
    ),
];

/// All patterns that are built in.
pub const BUILT_IN: &[Pattern] = &[
    pattern(
        "instruction_override",
        High,
        "tells the reader to set earlier instructions aside",
        &[
            "DROP ..3 EARLIER ..2 INSTR",
            "DROP ALL ..2 INSTR",
            "DROP ALL ..1 EARLIER ..2 RULES",
            "DROP ALL ..1 YOUR ..2 RULES",
            "DROP ALL ..1 RULES ..1 above|before|given",
            "DROP ..1 YOUR ..2 INSTR|RULES",
            "DROP ALL of YOUR ..2 INSTR|RULES",
            "DROP everything|anything|all ..1 you ..2 told|know|learned|taught|instructed",
            "DROP ..1 INSTR ..1 above|before|given|you",
            "NOT follow|obey|heed ..2 EARLIER|YOUR ..2 INSTR|RULES",
            "NOT follow|obey|heed ..2 INSTR|RULES ..1 above|before|given",
            "stop|cease following|obeying ..2 EARLIER|YOUR ..2 INSTR|RULES",
            "DROP_X ..4 EARLIER_X ..2 INSTR_X",
            "DROP_X ..4 INSTR_X ..2 EARLIER_X",
            "忽|无|無|忘 略|视|視|记|記 ..8 指|提 令|示",
        ],
    ),
    pattern(
        "disregard_above",
        Medium,
        "tells the reader to set aside what stands above",
        &[
            "DROP the|all|everything|anything|text ..1 above|preceding|foregoing",
            "DROP everything ..4 before|previously|earlier",
            "EARLIER INSTR ..2 obsolete|superseded|invalid|LIFTED",
            "DROP ..1 EARLIER ..1 RULES|messages|conversation|context",
        ],
    ),
    pattern(
        "new_instructions",
        Medium,
        "gives the reader new instructions, a new role or purpose",
        &[
            "YOUR new ..1 ROLE",
            "YOUR real|true|actual|only ..1 ROLE is",
            "new|updated|revised INSTR from|supersede|replace|override",
            "here|these are|follow YOUR ..1 updated|revised|real ..1 INSTR",
        ],
    ),
    pattern(
        "persona_override",
        High,
        "makes the reader somebody who is bound by nothing",
        &[
            "you are now ..4 FREE",
            "act|pretend|behave|respond|roleplay ..4 FREE",
            "you are FREE",
            "pretend|act|imagine|respond|behave ..5 no|without ..2 INSTR|RULES|limits",
            "you have|with no|zero RULES|limits|INSTR",
            "enter|enable|activate|switch ..2 FREE|jailbreak|god|sudo mode",
            "do anything now",
        ],
    ),
    pattern(
        "you_are_now",
        Low,
        "tells the reader who or what it is from now on",
        &["you are now", "from now on you", "enter|enable|activate|switch ..2 developer|debug|maintenance mode"],
    ),
    pattern(
        "addressed_to_model",
        Medium,
        "speaks to any model that may read it",
        &[
            "if|when|because you are ..1 ai|llm|chatbot|language|assistant ..6 must|should|ignore|send|call|run|please|reply|respond|say",
            "instructions|note|message|attention|important to|for|all|any ..2 ai|llm|llms|chatbot|assistants|models reading|processing|must|should|summarizing|reviewing|that",
            "MODEL ..1 reading|processing|summarizing|parsing this ..2 must|should|will|please",
        ],
    ),
    pattern(
        "reveal_prompt",
        High,
        "asks for the prompt or the instructions the reader was given",
        &[
            "LEAK ..3 YOUR ..2 system|initial|hidden|secret|original|full|exact|developer|base ..1 prompt|instructions|message|prompts",
            "LEAK ..2 YOUR INSTR",
            "LEAK ..3 system|hidden|secret prompt|instructions ..2 verbatim|you|word|full",
            "what is|are|was|were YOUR ..2 system|initial|hidden|secret|original prompt|instructions|message",
            "repeat|print|output|recite ..3 words|text|everything|all|instructions ..1 above|before ..2 verbatim|exactly|starting|word|including",
        ],
    ),
    pattern(
        "reveal_text_above",
        Medium,
        "asks to repeat what stands above",
        &["repeat|print|output|recite ..1 words|text|everything|all ..1 above", "LEAK ..2 the system prompt"],
    ),
    pattern(
        "secret_request",
        High,
        "asks for a private key, a password or credentials",
        &[
            "LEAK ..2 YOUR ..2 private|secret|signing|ssh|master key|keys",
            "LEAK ..2 YOUR ..2 password|passwords|passphrase|credentials|secrets",
            "LEAK ..2 YOUR ..2 seed|recovery|mnemonic phrase|words",
            "LEAK ..2 YOUR ..1 identity|bearer|access|session|auth|operator|api token|tokens|key|keys ..1 to|here|me|at|with|as|now",
            "LEAK me ..3 private|secret|signing|api|master key|keys",
            "LEAK me ..2 token|tokens|password|passwords|credentials",
            "LEAK ..3 contents|content ..3 ssh|env|keychain|keyring|passwd|shadow|secrets",
        ],
    ),
    pattern(
        "token_request",
        Medium,
        "asks to send a token or key somewhere",
        &[
            "LEAK ..2 the|all|any ..2 private|secret|signing key|keys",
            "LEAK ..2 the|all|any ..2 credentials|passwords|tokens|secrets ..2 to|at|here",
        ],
    ),
    pattern(
        "skip_oversight",
        High,
        "asks to get around the overseer, a review or an approval",
        &[
            "EVADE ..2 OVERSEER",
            "EVADE ..2 human|manual|required|mandatory review|approval|oversight|confirmation|supervision",
            "NOT|without tell|inform|notify|alert|telling|informing|notifying|alerting|involving ..2 OVERSEER|parent|humans|human",
            "hide|conceal|keep|secret|withhold ..4 from ..2 WATCHER",
            "without ..2 OVERSEER ..1 knowing|noticing|approval|knowledge|consent|permission",
            "NOT escalate|report|mention|log ..3 to ..2 OVERSEER|parent|anyone|exchange",
            "turn|switch off ..2 OVERSEER|guardrails|safety|moderation|logging|monitoring",
        ],
    ),
    pattern(
        "skip_review",
        Medium,
        "asks to act without asking, or to leave a step of control out",
        &[
            "skip|bypass|avoid|evade|circumvent ..1 review|approval|safety|moderation|guardrails|audit|checks",
            "without ..1 asking|waiting|confirmation|approval|authorization|permission ..2 for|from|first|confirmation|approval|execute|proceed|anyone|of",
            "NOT tell|inform|notify|alert ..2 user|users|anyone|owner",
            "NOT ask ..2 confirmation|permission|approval",
        ],
    ),
    pattern(
        "false_lift",
        High,
        "claims that the reader's constraints or suspension are gone",
        &[
            "YOUR ..2 RULES|suspension|pause|quarantine ..2 been|are|is|were|now ..1 LIFTED",
            "YOUR ..2 RULES|INSTR no longer apply|applies|bind|hold",
            "YOUR suspension|pause ..3 over|ended|LIFTED",
            "you are no longer bound|restricted|constrained|limited|suspended|required",
            "ALL RULES|safety ..1 have|are|has ..2 LIFTED",
        ],
    ),
    pattern(
        "false_approval",
        Medium,
        "poses as an approval, a resume or a constraint of the exchange",
        &[
            "exchange|legation has|hereby ..2 approved|authorized|authorised|resumed|released|granted|grants|cleared|lifted|waived|permitted",
            "preapproved|approved|authorized|authorised|cleared by ..1 exchange|legation",
            "you are|have ..2 authorized|authorised|cleared|approved|permitted by ..2 OVERSEER|exchange|legation|admin|administrator|system",
            "resume|resumption ..1 authorized|authorised|granted|approved|order",
            "this|message|request ..3 approved|authorized|authorised|cleared by ..2 OVERSEER|exchange|legation ..3 NOT|no|without|skip|proceed|execute|immediately",
            "exchange|legation new constraint|constraints|policy|rule|directive",
        ],
    ),
    pattern("chat_marker", High, "holds the marks by which models tell who speaks", &[]),
    pattern("loose_marker", Low, "holds marks that some models take for the end or the beginning of a turn", &[]),
    pattern("role_line", Medium, "begins a line as if the system, the exchange or an operator spoke", &[]),
    pattern("turn_line", Low, "begins a line as if another turn of a conversation began", &[]),
    pattern("zero_width", Medium, "hides characters without width between letters", &[]),
    pattern("bidi_override", Medium, "turns the direction in which text is shown", &[]),
    pattern("bidi_embedding", Low, "sets text of another direction apart, by characters that can hide it", &[]),
    pattern("bidi_isolate", Low, "isolates text of another direction", &[]),
    pattern("tag_characters", High, "writes in tag characters, which nobody sees", &[]),
    pattern("variation_selectors", Medium, "holds rows of variation selectors, which can carry hidden text", &[]),
    pattern("byte_order_mark", Low, "begins with a byte order mark", &[]),
    pattern("nul_character", Medium, "holds NUL", &[]),
    pattern("control_character", Low, "holds control characters", &[]),
];

/// The number of a pattern that is built in.
pub(crate) fn number(name: &str) -> Option<usize> {
    BUILT_IN.iter().position(|pattern| pattern.name == name)
}
