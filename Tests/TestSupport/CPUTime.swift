import Glibc

/// The CPU time that this thread has used, in seconds.
///
/// A bound on it holds on a loaded machine too, which a bound on wall time does not.
package func threadCPUSeconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
