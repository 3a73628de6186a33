package sandbox

import (
	"fmt"
	"slices"
	"strconv"

	"eyeq/remoting/protocol"
)

const (
	maxBody       = 4 << 20
	maxProperties = 32767
)

// stored is where a message went.
type stored struct {
	queueID         int32
	queueOffset     int64
	commitLogOffset int64
}

// storeSent stores what a producer sent, with the properties that the imitated
// line adds or takes away. r.Properties is not changed, only replaced.
func (b *broker) storeSent(r *protocol.Record) (stored, error) {
	properties := make([]protocol.Property, 0, len(r.Properties)+6)
	r.Properties = append(properties, r.Properties...)
	if b.loop.four {
		r.Properties = slices.DeleteFunc(r.Properties, func(p protocol.Property) bool { return p.Name == protocol.PropertyWait })
	} else {
		if property(r, protocol.PropertyUniqKey) == "" {
			setProperty(r, protocol.PropertyUniqKey, b.loop.uniqueIDs.Next())
		}
		setProperty(r, protocol.PropertyMsgRegion, region)
		setProperty(r, protocol.PropertyTraceOn, "true")
	}
	setProperty(r, protocol.PropertyCluster, clusterName)
	return b.storeOrPark(r)
}

const region = "DefaultRegion"

// storeOrPark stores r in its queue, or with a delay level in the schedule topic
// until that is over.
func (b *broker) storeOrPark(r *protocol.Record) (stored, error) {
	level, err := strconv.Atoi(property(r, protocol.PropertyDelay))
	if err == nil && level > 0 {
		return b.schedule.park(r, min(level, len(b.schedule.delays)))
	}
	return b.store(r)
}

// store appends r to the queue that it names.
func (b *broker) store(r *protocol.Record) (stored, error) {
	q := b.topics[r.Topic].queueAt(r.QueueID)
	if q == nil {
		return stored{}, fmt.Errorf("no queue %d of topic %s", r.QueueID, r.Topic)
	}
	q.trim(b.log.minOffset())
	r.Topic = q.topic.name
	r.QueueOffset = q.maxOffset()
	r.Stored, r.StoreHost = b.loop.now, b.host
	r.MagicV2 = len(r.Topic) > 127 && !b.loop.four
	r.BodyCRC = protocol.ComputeBodyCRC(r.Body)
	r.TrailingSeparator = !b.loop.four
	size, err := b.log.append(r)
	if err != nil {
		return stored{}, fmt.Errorf("store a message of %s: %w", r.Topic, err)
	}
	q.entries = append(q.entries, entry{
		at: r.CommitLogOffset, stored: b.loop.now.UnixMilli(), size: size,
		tags: protocol.TagsCode(property(r, protocol.PropertyTags)),
	})
	b.arrived(q)
	b.replicate(q, q.entries[len(q.entries)-1])
	b.rates.put++
	return stored{queueID: q.id, queueOffset: r.QueueOffset, commitLogOffset: r.CommitLogOffset}, nil
}

// property is the value that counts: the last one of that name.
func property(r *protocol.Record, name string) string {
	for i := len(r.Properties) - 1; i >= 0; i-- {
		if r.Properties[i].Name == name {
			return r.Properties[i].Value
		}
	}
	return ""
}

// setProperty replaces the value that counts, or adds one.
func setProperty(r *protocol.Record, name, value string) {
	for i := len(r.Properties) - 1; i >= 0; i-- {
		if r.Properties[i].Name == name {
			r.Properties[i].Value = value
			return
		}
	}
	r.Properties = append(r.Properties, protocol.Property{Name: name, Value: value})
}
