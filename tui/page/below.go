package page

func BelowList(y, listHeight, rows int) Under {
	if y >= listHeight || rows == 0 {
		return OverText
	}
	return OverRows
}
