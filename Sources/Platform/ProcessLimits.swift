import FoundationEssentials

/// The path of this process's executable, with links resolved.
package func currentExecutable() -> String {
    let own = "/proc/self/exe"
    // Without /proc, the first argument is a less reliable starting point of a search.
    return (try? FileManager.default.destinationOfSymbolicLink(atPath: own)) ?? CommandLine.arguments[0]
}

#if canImport(Glibc)
    private typealias LimitedResource = __rlimit_resource_t
    private let openFiles = LimitedResource(RLIMIT_NOFILE.rawValue)
    private let coreFile = LimitedResource(RLIMIT_CORE.rawValue)
#else
    private typealias LimitedResource = Int32
    private let openFiles = LimitedResource(RLIMIT_NOFILE)
    private let coreFile = LimitedResource(RLIMIT_CORE)
#endif

/// Raises the number of files and connections that the process may have open, as far as the system allows without privileges.
///
/// - Returns: The new number; `nil` if it is not known.
package func raiseOpenFileLimit() -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(openFiles, &limit) == 0 else { return nil }
    if limit.rlim_cur < limit.rlim_max {
        var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        if unsafe setrlimit(openFiles, &raised) == 0 { limit = raised }
    }
    return UInt64(limit.rlim_cur)
}

/// Makes crashes leave no core file.
package func forbidCoreFiles() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(coreFile, &none)
}

/// Keeps the user's other processes from attaching to this one, and crash handlers from dumping it.
///
/// Darwin allows that only to processes with a right of their own.
package func forbidReadingMemory() {
    #if os(Linux)
        // Swift cannot call variadic C functions. On Linux, their integer arguments are passed as in other functions.
        typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let symbol = unsafe dlsym(nil, "prctl") else { return }
        let prctl = unsafe unsafeBitCast(symbol, to: ProcessControl.self)
        let setDumpable: Int32 = 4  // PR_SET_DUMPABLE, <linux/prctl.h>
        _ = prctl(setDumpable, 0, 0, 0, 0)
    #endif
}
