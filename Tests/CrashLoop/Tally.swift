/// What a loop kills.
enum LoopTarget: Sendable {
    case crawls
    case actions

    var sites: [CrashSite] { self == .crawls ? CrashSite.ofCrawls : CrashSite.ofActions }
    var faults: [InjectedFault] { self == .crawls ? InjectedFault.ofCrawls : InjectedFault.ofActions }
}

/// How often each fault took effect, and its cost.
struct Tally: Sendable {
    let target: LoopTarget
    private(set) var hits: [String: Int] = [:]
    private(set) var misses: [String: Int] = [:]
    private(set) var kills = 0
    private(set) var extraPages = 0
    private(set) var allowedPages = 0
    /// Of all rounds: the pages that were requested twice, and the allowed number.
    private(set) var worstRework = 0.0

    init(_ target: LoopTarget) { self.target = target }

    mutating func hit(_ fault: InjectedFault) {
        hits[fault.name, default: 0] += 1
        kills += 1
    }

    mutating func miss(_ fault: InjectedFault) {
        misses[fault.name, default: 0] += 1
    }

    mutating func rework(extra: Int, allowed: Int) {
        extraPages += extra
        allowedPages += allowed
        if allowed > 0 { worstRework = max(worstRework, Double(extra) / Double(allowed)) }
    }

    /// All crash points and other faults, in the order of the table.
    var rows: [(number: String, name: String, hits: Int, misses: Int)] {
        let names = target.sites.map { ($0.number, $0.name) } + target.faults.map { ("", $0.name) }
        return names.map { ($0, $1, hits[$1, default: 0], misses[$1, default: 0]) }
    }

    var neverHit: [String] { rows.filter { $0.hits == 0 }.map(\.name) }
}
