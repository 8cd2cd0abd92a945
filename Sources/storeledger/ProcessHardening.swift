import Glibc
import Workers

/// What the process does at its very start so that keys and tokens stay in its memory.
enum ProcessHardening {
    static func harden() {
        // A core file would hold the key.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        forbidReadingMemory()
        // With SWIFT_BACKTRACE set the runtime would print registers and the memory they point to.
        for crash in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { _ = signal(crash, SIG_DFL) }
        // A closed pipe is an error to report, not an end.
        ignoreSIGPIPE()
        // And so is a file grown to the size that `ulimit -f` allows.
        _ = signal(SIGXFSZ, SIG_IGN)
    }

    /// Keeps the user's other processes from attaching to this one, and crash handlers from dumping it.
    private static func forbidReadingMemory() {
        // Swift cannot call a variadic C function; on Linux it takes whole numbers like any other function.
        typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let symbol = unsafe dlsym(nil, "prctl") else { return }
        let prctl = unsafe unsafeBitCast(symbol, to: ProcessControl.self)
        let setDumpable: Int32 = 4  // PR_SET_DUMPABLE, <linux/prctl.h>
        _ = prctl(setDumpable, 0, 0, 0, 0)
    }
}
