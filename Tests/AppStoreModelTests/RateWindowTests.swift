import AppStoreModel
import Testing

struct RateWindowTests {
    @Test(arguments: [
        (3_600, 10_000, 30_000), (360, 1_000, 3_000), (90, 250, 750), (60, 250, 500), (30, 250, 250), (10, 250, 250),
    ])
    func `the margin shrinks with the window, but a grant outlives its commit`(seconds: Int, life: Int, flight: Int) {
        let window = RateWindow(length: .seconds(seconds))
        #expect(window.grantLife == .milliseconds(life))
        #expect(window.flightTime == .milliseconds(flight))
    }
}
