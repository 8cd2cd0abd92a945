import Basics
import Glibc

/// Keeps keys and tokens from leaving the process's memory; called at the start of the process.
enum ProcessHardening {
    static func harden() {
        // A core file would contain the key.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        forbidReadingMemory()
        // With SWIFT_BACKTRACE, the runtime would print registers and the memory they point to.
        for crash in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { _ = signal(crash, SIG_DFL) }
        // Writing to a closed pipe must be reported as an error, not end the process.
        ignoreSIGPIPE()
        // The same is true of a file that exceeds `ulimit -f`.
        _ = signal(SIGXFSZ, SIG_IGN)
    }

    /// Keeps the user's other processes from attaching to this one, and crash handlers from dumping it.
    private static func forbidReadingMemory() {
        // Swift cannot call variadic C functions. On Linux, their integer arguments are passed as in other functions.
        typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let symbol = unsafe dlsym(nil, "prctl") else { return }
        let prctl = unsafe unsafeBitCast(symbol, to: ProcessControl.self)
        let setDumpable: Int32 = 4  // PR_SET_DUMPABLE, <linux/prctl.h>
        _ = prctl(setDumpable, 0, 0, 0, 0)
    }
}
