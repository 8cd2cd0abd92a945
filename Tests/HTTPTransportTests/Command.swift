import Glibc

/// A program that runs during a test.
///
/// Foundation's `Process` is not used because its children inherit blocked signals, and `terminate()` then hangs.
final class Command: Sendable {
    private let pid: pid_t
    private let output: Int32

    init(_ arguments: [String]) throws {
        var pipe: [Int32] = [0, 0]
        guard unsafe Glibc.pipe(&pipe) == 0 else { throw NotStarted() }
        // Another test's child must not keep our end open.
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)

        let words = unsafe arguments.map { unsafe strdup($0) }
        defer { unsafe words.forEach { unsafe free($0) } }
        var pid = pid_t()
        let failure = unsafe posix_spawnp(&pid, arguments[0], &actions, nil, words + [nil], environ)
        close(pipe[1])
        guard failure == 0 else {
            close(pipe[0])
            throw NotStarted()
        }
        self.pid = pid
        output = pipe[0]
    }

    convenience init(_ arguments: String...) throws { try self.init(arguments) }

    deinit { close(output) }

    /// The next line the program prints; `nil` when it prints no more.
    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Lets the program finish, which must not print much; returns its exit code.
    func wait() -> Int32 {
        var status: Int32 = 0
        unsafe waitpid(pid, &status, 0)
        return status >> 8
    }

    /// Ends the program; by SIGKILL because a child inherits the test threads' blocked signals.
    func stop() {
        kill(pid, SIGKILL)
        _ = wait()
    }

    struct NotStarted: Error {}
}
