import FoundationEssentials
import Glibc
import Testing

@testable import CommandLineTool

struct ProcessHardeningTests {
    @Test func `another process cannot read the process's secrets`() throws {
        ProcessHardening.harden()
        var cores = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &cores)
        #expect(cores.rlim_cur == 0 && cores.rlim_max == 0)
        // For a process that is not dumpable, the kernel hides everything that only the owner can read.
        let owner = try FileManager.default.attributesOfItem(atPath: "/proc/self/environ")[.ownerAccountID]
        #expect(owner as? UInt == 0)
    }
}
