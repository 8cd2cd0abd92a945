import Dispatch
import Glibc
import Synchronization

/// What some work took.
struct Lap {
    /// Seconds on the wall.
    let wall: Double
    /// Seconds of processor time, the mean of the threads.
    let cpu: Double
}

/// Times work on one thread or several at once.
enum WorkTimer {
    /// Each of the threads runs `work`; the lap ends when all have returned.
    static func time(threads: Int = 1, _ work: @Sendable () -> Void) -> Lap {
        let cpu = Mutex(0.0)
        let start = seconds(CLOCK_MONOTONIC)
        if threads == 1 {
            cpu.withLock { $0 = cpuTime(work) }
        } else {
            DispatchQueue.concurrentPerform(iterations: threads) { _ in
                let spent = cpuTime(work)
                cpu.withLock { $0 += spent }
            }
        }
        return Lap(wall: seconds(CLOCK_MONOTONIC) - start, cpu: cpu.withLock { $0 } / Double(threads))
    }

    private static func cpuTime(_ work: () -> Void) -> Double {
        let start = seconds(CLOCK_THREAD_CPUTIME_ID)
        work()
        return seconds(CLOCK_THREAD_CPUTIME_ID) - start
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var now = timespec()
        unsafe clock_gettime(clock, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
