package tail

// count adds to the second that is now.
func (v *View) count(n int64) {
	now := v.env.Now.Unix()
	if v.rateAt == 0 || now-v.rateAt >= histogram {
		v.rates, v.rateAt = [histogram]int64{}, now
	}
	for ; v.rateAt < now; v.rateAt++ {
		v.rates[(v.rateAt+1)%histogram] = 0
	}
	v.rates[v.rateAt%histogram] += n
}

// rate is how many messages came a second lately.
func (v *View) rate() float64 {
	if v.rateAt == 0 {
		return 0
	}
	n, over := int64(0), int64(0)
	for back := int64(1); back <= 3; back++ {
		n += v.at(v.env.Now.Unix() - back)
		over++
	}
	return float64(n) / float64(over)
}

// at is how many came in a second.
func (v *View) at(second int64) int64 {
	if second > v.rateAt || v.rateAt-second >= histogram || second < v.since.Unix() {
		return 0
	}
	return v.rates[second%histogram]
}

// trend are the last seconds that are over.
func (v *View) trend(cells int) []float64 {
	values := make([]float64, cells)
	for i := range values {
		values[i] = float64(v.at(v.env.Now.Unix() - int64(cells-i)))
	}
	return values
}
