import Basics
import Platform
import StrictJSON

/// The file `steps.jsonl`: the steps of a world, one JSON object a line, in their order.
///
/// A step is appended by one system call before it is answered, so it survives a kill of the process. It is not flushed to
/// disk: a power failure can lose the last steps.
struct StepJournal: Sendable {
    let path: String

    /// The steps in the file, without a last line that was not finished; `nil` when a line is damaged.
    var steps: [WorldStep]? {
        get throws(SimulatorError) {
            guard let bytes = try DirectoryFile.read(path) else { return [] }
            let newline = UInt8(ascii: "\n")
            let lines = bytes.prefix((bytes.lastIndex(of: newline) ?? -1) + 1).split(separator: newline)
            var steps: [WorldStep] = []
            for line in lines {
                // A damaged journal counts as no world, as a damaged world.json does.
                guard let step = (try? StrictJSON.parseObject(Array(line))).flatMap(WorldStep.init) else { return nil }
                steps.append(step)
            }
            return steps
        }
    }

    /// Replaces the file.
    func replace(with steps: [WorldStep]) throws(SimulatorError) {
        try DirectoryFile.write(steps.flatMap(Self.line), to: path)
    }

    func append(_ step: WorldStep) throws(SimulatorError) {
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        let line = Self.line(step)
        let written = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard written == line.count else { throw failure }
    }

    private static func line(_ step: WorldStep) -> [UInt8] { step.json + [UInt8(ascii: "\n")] }

    /// Takes the reason from `errno`.
    private var failure: SimulatorError {
        SimulatorError(.output, "Writing \(path): \(systemErrorText(errno))")
    }
}
