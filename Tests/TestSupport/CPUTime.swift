import Glibc

/// The CPU time that this thread has used, in seconds.
///
/// A bound on it also works on a loaded machine, unlike a bound on wall time.
package func threadCPUSeconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
