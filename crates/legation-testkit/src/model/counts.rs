//! How often the rules did something: what did not happen was not tested.

/// What the rules did in a run, or in many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times an agent was suspended.
    pub suspended: u64,
    /// Messages that were held as they came.
    pub held: u64,
    /// Those of them in which the scan had found something.
    pub suspected: u64,
    /// Messages that were held or taken back and went on.
    pub released: u64,
    /// Tasks that were opened.
    pub tasks: u64,
    /// Alarms that nobody answered or dealt with in time.
    pub alarms_fired: u64,
    /// Tasks that were not done in time.
    pub tasks_fired: u64,
    /// Reviews that nobody decided in time.
    pub reviews_fired: u64,
    /// Conversations in which something happened by itself.
    pub talks_fired: u64,
    /// Sessions that were halted.
    pub halted: u64,
    /// Messages that were taken back as their session was.
    pub taken_back: u64,
    /// Those of them that were said elsewhere and go on from it.
    pub built_on: u64,
    /// Messages that the exchange translated.
    pub translated: u64,
    /// Tools that were called.
    pub called: u64,
    /// Calls that something came of.
    pub answered: u64,
    /// Calls that a stop left open, and that were closed after it.
    pub interrupted: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, more: Counts) {
        let Counts {
            suspended,
            held,
            suspected,
            released,
            tasks,
            alarms_fired,
            tasks_fired,
            reviews_fired,
            talks_fired,
            halted,
            taken_back,
            built_on,
            translated,
            called,
            answered,
            interrupted,
        } = more;
        self.suspended += suspended;
        self.held += held;
        self.suspected += suspected;
        self.released += released;
        self.tasks += tasks;
        self.alarms_fired += alarms_fired;
        self.tasks_fired += tasks_fired;
        self.reviews_fired += reviews_fired;
        self.talks_fired += talks_fired;
        self.halted += halted;
        self.taken_back += taken_back;
        self.built_on += built_on;
        self.translated += translated;
        self.called += called;
        self.answered += answered;
        self.interrupted += interrupted;
    }
}
