// With SwiftNIO in reach, the compiler finds `stat` in this module.
import Dispatch
import Glibc
import Testing

@testable import CommandLineTool

struct ProcessHardeningTests {
    @Test func `another process cannot read the process's secrets`() {
        ProcessHardening.harden()
        var cores = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &cores)
        #expect(cores.rlim_cur == 0 && cores.rlim_max == 0)
        // For a process that is not dumpable, the kernel hides everything that only the owner can read.
        var status = stat()
        #expect(unsafe stat("/proc/self/environ", &status) == 0 && status.st_uid == 0)
    }
}
