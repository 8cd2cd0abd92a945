extension Duration {
    /// The duration for people, such as `2 h 5 min`, `90 s` or `0.4 s`.
    package var inWords: String { inWords(rounded: .toNearestOrAwayFromZero) }

    /// Writes the duration in its largest units: hours and minutes, minutes, or seconds.
    ///
    /// - Parameter rule: How the last unit is rounded; `.up` for the least time that something takes.
    package func inWords(rounded rule: FloatingPointRoundingRule) -> String {
        let seconds = inSeconds
        // A quotient of two whole numbers can be off by the last bits, which must not add a unit.
        let whole = { (count: Double) in Int((rule == .up ? count - 1e-6 : count).rounded(rule)) }
        if seconds >= 3_600 {
            let minutes = whole(seconds / 60)
            return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
        }
        if seconds >= 120 { return "\(whole(seconds / 60)) min" }
        if seconds >= 10 { return "\(whole(seconds)) s" }
        return "\(Double(whole(seconds * 10)) / 10) s"
    }
}

extension Duration {
    /// In seconds, with their fraction.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
