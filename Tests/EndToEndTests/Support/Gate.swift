/// Lets a few in at a time; the rest wait in the order they came.
///
/// A dozen stores and pipelines at once on two cores would each be too slow to tell anything.
actor Gate {
    static let stages = Gate(places: 3)

    private var places: Int
    private var line: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        self.places = places
    }

    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { line.append($0) }
    }

    func leave() {
        guard line.isEmpty else { return line.removeFirst().resume() }
        places += 1
    }
}
