import ArgumentParser
import Glibc

/// Refuses to measure a debug build, because its figures differ from a release build's.
enum ReleaseBuild {
    /// - Throws: `ExitCode` 78 in a debug build, after saying what to do.
    static func require() throws {
        #if DEBUG
            Say.line(
                "ledger-bench: this is a debug build, whose figures mean nothing; "
                    + "build it with: swift build -c release --product ledger-bench"
            )
            throw ExitCode(78)
        #endif
    }
}

/// Words for people, on stderr: stdout carries the figures.
enum Say {
    static func line(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
