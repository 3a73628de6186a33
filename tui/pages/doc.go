// Package pages has the pages about any group, topic and broker of a cluster: the lists of
// groups, topics and brokers, a group with its members, its lag, a topic, the findings of
// the doctor, and what a member's threads do.
//
// Each is a page.Page: it asks by questions, shows rows, and returns requests. They do not
// know each other.
package pages
