/// A program that has run to its end, with the memory it took.
package struct MeasuredProgram: Sendable {
    package let code: Int32
    package let output: String
    package let errors: String
    /// The most memory that it has had at once, in KiB.
    package let peak: Int

    /// Python starts the program, because the kernel's figure for a child includes the memory of the process that started it.
    private static let launcher = """
        import resource, subprocess, sys
        code = subprocess.call(sys.argv[1:])
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
        sys.exit(code)
        """

    /// Runs a program by its path, with only the given environment.
    package static func run(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String]
    ) async throws -> MeasuredProgram {
        let arguments = ["python3", "-c", launcher, executable] + arguments
        return try await withChildProcess("/usr/bin/env", arguments, environment: environment) { process in
            let code = await process.wait()
            var lines = process.errors.split(separator: "\n", omittingEmptySubsequences: false)
            // The last line ends with a line feed.
            lines.removeLast()
            let peak = lines.popLast().flatMap { Int($0) } ?? 0
            let errors = lines.joined(separator: "\n")
            return MeasuredProgram(code: code, output: process.output, errors: errors, peak: peak)
        }
    }
}
