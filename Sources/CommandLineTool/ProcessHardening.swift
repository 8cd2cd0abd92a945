import Basics
import Platform

/// Keeps keys and tokens from leaving the process's memory; called at the start of the process.
enum ProcessHardening {
    static func harden() {
        // A core file would contain the key.
        forbidCoreFiles()
        forbidReadingMemory()
        // With SWIFT_BACKTRACE, the runtime would print registers and the memory they point to.
        for crash in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { _ = signal(crash, SIG_DFL) }
        // Writing to a closed pipe must be reported as an error, not end the process.
        ignoreSIGPIPE()
        // The same is true of a file that exceeds `ulimit -f`.
        _ = signal(SIGXFSZ, SIG_IGN)
    }
}
