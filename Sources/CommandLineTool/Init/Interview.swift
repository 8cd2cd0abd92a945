import ArgumentParser
import Basics
import Pipeline
import Platform

/// Collects the values of a job file: from options, or by questions on a terminal.
final class Interview {
    private let isInteractive: Bool
    private var missing: [String] = []

    init(isInteractive: Bool) { self.isInteractive = isInteractive }

    /// Takes the value of an option, or asks until an answer is accepted.
    ///
    /// The value of an option and a default are not asked for again: the check of the whole file reports them.
    ///
    /// - Parameters:
    ///   - question: What to ask for.
    ///   - given: Its value; `nil` if it was not given.
    ///   - usual: The value for an empty answer; without it an answer is required.
    ///   - accept: Sets the value, and returns what is wrong with it.
    /// - Throws: `ExitCode` if the input ends before the answer.
    func ask(
        _ question: String,
        _ option: String,
        _ given: String?,
        default usual: String? = nil,
        accept: (String) -> String?
    ) throws {
        if let value = given ?? (isInteractive ? nil : usual) {
            _ = accept(value)
            return
        }
        while isInteractive {
            Console.raw(question + (usual.map { $0.isEmpty ? "" : " [\($0)]" } ?? "") + ": ")
            guard let line = readLine() else { throw Self.stop() }
            let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let answer = words.isEmpty ? usual : words
            guard let answer else { continue }
            guard let problem = accept(answer) else { return }
            Console.message(problem)
        }
        missing.append(option)
    }

    /// What the user reads after Ctrl-C or Ctrl-D; the cursor is behind a question then.
    private static let stopped: StaticString =
        "\nstoreledger: stopped before all questions were answered; nothing was written\n"

    /// The exit code after Ctrl-C or Ctrl-D: stopped with work left.
    private static let stoppedCode = ExitStatus.workLeft.rawValue

    private static func stop() -> ExitCode {
        Console.raw(stopped.description)
        return ExitCode(stoppedCode)
    }

    /// Asks the questions in `body`; SIGINT and SIGTERM end the process with a message meanwhile.
    ///
    /// A question waits for its answer in `read`, which a cancelled task does not end.
    func asking<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard isInteractive else { return try body() }
        // Initialised before a handler reads it.
        _ = (Self.stopped, Self.stoppedCode)
        let end: @convention(c) (Int32) -> Void = { _ in
            _ = unsafe write(STDERR_FILENO, Interview.stopped.utf8Start, Interview.stopped.utf8CodeUnitCount)
            _exit(Interview.stoppedCode)
        }
        let previous = (signal(SIGINT, end), signal(SIGTERM, end))
        defer {
            _ = signal(SIGINT, previous.0)
            _ = signal(SIGTERM, previous.1)
        }
        return try body()
    }

    /// - Throws: `ValidationError` with all required options that have no value.
    func requireAnswers() throws {
        guard !missing.isEmpty else { return }
        throw ValidationError(
            "Without a terminal, these options are required: \(missing.joined(separator: ", ")). See storeledger init --help."
        )
    }
}
