import Actions
import AppStoreModel
import Basics
import Crawl
import Pipeline

extension RunLog {
    /// Logs an event of `actions run` as the same event of a run.
    func note(_ event: ActionEvent) {
        switch event {
        case .rehearsal(let sentence): note(RunEvent.rehearsal(sentence))
        case .remark(let sentence): note(RunEvent.remark(sentence))
        case .retrying(let endpoint, let failure): report(.failedRequest(endpoint, failure.description))
        case .closed(let endpoint, let opening): note(RunEvent.crawl(.closed(endpoint, opening)))
        case .stalled(let endpoint, let wait):
            let now = UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
            note(RunEvent.crawl(.stalled(endpoint, for: wait, until: now + wait)))
        case .began, .counted, .ended: break
        }
    }
}
