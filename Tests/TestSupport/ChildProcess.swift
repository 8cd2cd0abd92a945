import Dispatch
import FoundationEssentials
package import Glibc
import Synchronization

/// A program that runs during a test, with its output read line by line.
///
/// Foundation's `Process` is not used: its children inherit blocked signals, and several at once can hang.
package final class ChildProcess: Sendable {
    package let processID: pid_t
    private let standardOutput: OutputReader
    private let standardError: OutputReader
    private let end = Promise<Int32>()

    /// Starts a program by its path, with only the given environment.
    ///
    /// The caller must ``stop()`` it, as ``withChildProcess(_:_:environment:_:)`` does.
    package init(_ executable: String, _ arguments: [String], environment: [String: String]) throws {
        (processID, standardOutput, standardError) = try Self.oneAtATime.withLock { _ in
            try Self.spawn(executable, arguments, environment)
        }
        reap()
    }

    /// A lock: a program that is started before a new pipe is marked close-on-exec inherits the pipe.
    private static let oneAtATime = Mutex(())

    private static func spawn(
        _ executable: String,
        _ arguments: [String],
        _ environment: [String: String]
    ) throws -> (pid_t, OutputReader, OutputReader) {
        let out = try Pipe()
        let error = try Pipe()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, out.writing, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, error.writing, STDERR_FILENO)

        // The test process may ignore or block signals. Its children start with the defaults, as from a shell.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var allSignals = sigset_t()
        var none = sigset_t()
        unsafe sigfillset(&allSignals)
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &allSignals)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let words = unsafe ([executable] + arguments).map { unsafe strdup($0) }
        let all = TestClock.environment.merging(environment) { $1 }
        let variables = unsafe all.map { unsafe strdup("\($0.key)=\($0.value)") }
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var processID = pid_t()
        let failure = unsafe posix_spawn(
            &processID,
            executable,
            &actions,
            &attributes,
            words + [nil],
            variables + [nil]
        )
        close(out.writing)
        close(error.writing)
        guard failure == 0 else {
            close(out.reading)
            close(error.reading)
            throw NotStarted(executable: executable, reason: unsafe String(cString: strerror(failure)))
        }
        return (processID, OutputReader(out.reading), OutputReader(error.reading))
    }

    /// Sends a signal; does nothing when the program has ended.
    package func signal(_ number: Int32) {
        // The lock also protects reaping, so the ID cannot belong to another program.
        end.unlessFulfilled { kill(processID, number) }
    }

    /// Waits until the program is stopped, and lets it continue.
    ///
    /// A program that stops itself says so before. A SIGCONT that arrives in between would be lost, and the program would stay
    /// stopped.
    package func resume() async throws {
        try await poll { hasEnded || isStopped }
        signal(SIGCONT)
    }

    /// Whether it is stopped by a signal.
    package var isStopped: Bool {
        // The file is gone when the program has ended.
        (try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8))?.contains("State:\tT") ?? false
    }

    /// Waits until the program has ended and all its output is read.
    ///
    /// - Returns: Its exit code as in a shell: 128 + the number of the signal that killed it.
    @discardableResult
    package func wait() async -> Int32 {
        let code = await end.value
        await standardOutput.finished()
        await standardError.finished()
        return code
    }

    /// Kills the program if it is still running, and waits for its end.
    package func stop() async {
        signal(SIGKILL)
        await wait()
    }

    /// Whether it has ended.
    ///
    /// Its output may not be read completely yet.
    package var hasEnded: Bool { end.isFulfilled }

    /// Everything on stdout so far.
    package var output: String { standardOutput.text }

    /// Everything on stderr so far.
    package var errors: String { standardError.text }

    /// The lines of a stderr without the notices that a program waits for PostgreSQL.
    ///
    /// A busy machine adds such a notice to any command that has a database, so a test that compares stderr compares these.
    package static func lines(of errors: String) -> [Substring] {
        errors.split(separator: "\n").filter {
            !$0.contains("waiting for PostgreSQL: ") && !$0.contains("waiting for a lock on ")
        }
    }

    /// Waits for a line on stdout that contains `words`; `nil` when the program ends without one.
    package func outputLine(with words: String) async -> String? { await standardOutput.line(with: words) }

    /// Waits for a line on stderr that contains `words`; `nil` when the program ends without one.
    package func errorLine(with words: String) async -> String? { await standardError.line(with: words) }

    /// Waits for the program's end on a separate thread.
    private func reap() {
        DispatchQueue(label: "child \(processID)").async { [processID, end] in
            // WNOWAIT: the dead child is not reaped yet, so its ID is not reused before the lock is taken.
            var information = unsafe siginfo_t()
            while unsafe waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            end.fulfill {
                var status: Int32 = 0
                unsafe waitpid(processID, &status, 0)
                let signal = status & 0x7F
                return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
            }
        }
    }

    package struct NotStarted: Error {
        let executable: String
        let reason: String
    }
}

/// Runs a program during `body`, and kills it afterwards if it is still running.
package func withChildProcess<Result>(
    _ executable: String,
    _ arguments: [String],
    environment: [String: String],
    _ body: (ChildProcess) async throws -> Result
) async throws -> Result {
    let child = try ChildProcess(executable, arguments, environment: environment)
    do {
        let result = try await body(child)
        await child.stop()
        return result
    } catch {
        await child.stop()
        throw error
    }
}

/// Both ends of a pipe, marked close-on-exec.
private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else {
            throw ChildProcess.NotStarted(executable: "a pipe", reason: unsafe String(cString: strerror(errno)))
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }
}
