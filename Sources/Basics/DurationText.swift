extension Duration {
    /// The duration for people, such as `2 h 5 min`, `90 s` or `0.4 s`.
    package var inWords: String {
        let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
        if seconds >= 3_600 {
            let minutes = Int((seconds / 60).rounded())
            return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
        }
        if seconds >= 120 { return "\(Int((seconds / 60).rounded())) min" }
        if seconds >= 10 { return "\(Int(seconds.rounded())) s" }
        return "\(Double(Int((seconds * 10).rounded())) / 10) s"
    }
}

extension Duration {
    /// In seconds, with their fraction.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
