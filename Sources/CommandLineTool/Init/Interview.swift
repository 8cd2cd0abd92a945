import ArgumentParser

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
    ///   - option: The name of the option.
    ///   - given: Its value; `nil` if it was not given.
    ///   - usual: The value for an empty answer; without it an answer is required.
    ///   - accept: Sets the value, and returns what is wrong with it.
    func ask(
        _ question: String,
        _ option: String,
        _ given: String?,
        default usual: String? = nil,
        accept: (String) -> String?
    ) {
        if let value = given ?? (isInteractive ? nil : usual) {
            _ = accept(value)
            return
        }
        while isInteractive {
            Console.raw(question + (usual.map { $0.isEmpty ? " (may be empty)" : " [\($0)]" } ?? "") + ": ")
            guard let line = readLine() else { break }
            let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let answer = words.isEmpty ? usual : words
            guard let answer else { continue }
            guard let problem = accept(answer) else { return }
            Console.message(problem)
        }
        missing.append(option)
    }

    /// - Throws: `ValidationError` with all required options that have no value.
    func requireAnswers() throws {
        guard !missing.isEmpty else { return }
        throw ValidationError("Without a terminal, these options are required: \(missing.joined(separator: ", ")).")
    }
}
