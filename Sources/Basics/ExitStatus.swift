/// Exit codes of the process.
///
/// Documented in `docs/reference/exit-codes.md`; a test compares the two.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    /// Every item is complete.
    case complete = 0
    /// Some items failed, or records were rejected, or a gap was recorded; `status` lists them.
    case completeWithLosses = 2
    /// Wrong command line.
    case usage = 64
    /// Bad job file or ID list; nothing was sent.
    case badInput = 65
    /// An input file is missing or unreadable.
    case missingInput = 66
    /// PostgreSQL cannot be reached within the deadline.
    case databaseUnavailable = 69
    /// Internal error.
    case bug = 70
    /// An output file cannot be created.
    case cannotCreate = 73
    /// I/O error, such as a full disk.
    case ioError = 74
    /// Stopped with work left: run again to resume.
    case workLeft = 75
    /// Apple's answers violate the documented contract, or too much fails.
    case contractBroken = 76
    /// Apple or PostgreSQL rejects the credentials.
    case refused = 77
    /// Configuration: schema too new or missing, wrong bundle ID, unsafe key file.
    case configuration = 78

    /// Whether every item of the run has ended: 0 or 2.
    package var isComplete: Bool { [.complete, .completeWithLosses].contains(self) }

    /// Whether the cause can pass by itself, so that a later start succeeds.
    private var canPass: Bool { [.databaseUnavailable, .ioError, .workLeft, .contractBroken].contains(self) }

    /// The exit code of a process with several runs.
    ///
    /// A supervisor decides by the code whether to start the process again. So a code that can pass counts before one that
    /// needs a person: the other runs continue, and the last start ends with the code that needs a person.
    package static func worst(of codes: some Sequence<ExitStatus>) -> ExitStatus {
        func weight(_ code: ExitStatus) -> (Int, Int32) {
            if code.isComplete { return (0, code.rawValue) }
            // Work that is left is no fault, so it tells least.
            return (code.canPass ? 2 : 1, code == .workLeft ? 0 : code.rawValue)
        }
        return codes.max { weight($0) < weight($1) } ?? .complete
    }

    /// The meaning, as a clause that can follow a colon.
    ///
    /// It is the same for every run, so it contains neither a secret nor a customer's ID.
    package var meaning: String {
        switch self {
        case .complete: "complete: every item reached its end"
        case .completeWithLosses:
            "complete, but items failed, records were rejected, a gap was recorded, or the views are old"
        case .usage: "wrong command line"
        case .badInput: "bad job file or ID list; nothing was sent"
        case .missingInput: "an input file is missing or unreadable"
        case .databaseUnavailable: "PostgreSQL cannot be reached"
        case .bug: "internal error"
        case .cannotCreate: "an output file cannot be created"
        case .ioError: "I/O error, such as a full disk"
        case .workLeft: "stopped with work left; the next start continues"
        case .contractBroken: "Apple cannot be reached, or its answers cannot be used, or too many records are rejected"
        case .refused: "Apple, PostgreSQL or a bucket rejects the credentials"
        case .configuration: "configuration: database, schema, bundle ID, key file or clock"
        }
    }
}
