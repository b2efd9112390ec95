package export

// ReadmeText is README.txt. It is the first file of every export: where the
// export begins again, everything before it is void.
const ReadmeText = `This folder is everything that a companion (jivad) remembers, in open formats.
It holds your diary in plain text: keep it as you would keep the diary.

diary.md           Every entry whose text is kept, by day, as Markdown. Where there
                   is much, one file a year: diary-1911.md. Where a line of yours
                   would be taken for the heading of another entry, a backslash
                   stands before it; impressions.jsonl has it as you wrote it.
                   Entries without a date stand under "Without a date".
impressions.jsonl  Every entry with all its numbers, one JSON object a line, in the
                   order in which they were lived.
                     order        place among everything that has an order
                     key          digest of date and words: same key, same entry
                     session      the sitting, or the day, that it belongs to
                     judgement    what was made of it, once
                     embedding    its vector: base64 of little-endian float32
                     today        how deep it is now, how deep it ever was, how often
                                  it was woken; null where it left no impression of
                                  its own, but acted on those under acted_on
                     kept         full, gist (the first sentences only), none, or buried
                     text         exactly as you wrote it; null where none is kept
                     summary, reason
                                  what a model said of it, and why it judged it so
                     answer, answered_by
                                  what was answered to it in a conversation, and by whom
                     own_share    how much of it the companion had said before, 0 to 1
                     found_category
                                  a kind of data that a model found it to be of, beside
                                  the one that it has by your word
sessions.jsonl     Every session: when it began and ended, and its line of the trend.
parameters.json    The parameters of the mathematics: those in force, and every
                   change with its place in the order.
tendencies.json    The tendencies that the last sessions left, with their members, and
                   those that were found once and are no more; what a model
                   calls them and said of the last session.
vectors-N.jsonl    Only where another embedder came: the vector that each entry has from
                   place N in the order on; "order" and "id" are those of the entry.
forgotten.jsonl    Only where something was forgotten: digests, no words, so that a
                   diary file that still has it brings nothing back.
consent.jsonl      Only where something was said: what may be done with which kind of
                   text, every record of it, each chained to the one before.
SOUL.md, given.md  Who the companion is, as it wrote it last; and what you wrote in
                   it under "Given", in full.
manifest.json      What all of this is, and a SHA-256 of every file.

The last field of every line of a .jsonl file, "check", is the CRC-32C of the line
up to the comma before it, in hexadecimal.

To make a companion of it again, which is the same to the last bit:

    jivad --data NEWFOLDER init
    jivad --data NEWFOLDER import THISFOLDER

What you said about consent holds in the new one too; where that one was told
otherwise before, whichever allows less.

Not here is what lives have taught: the lineage, with its rules, and the lives
themselves. They belong to a device and what it signs, not to what is remembered;
a companion that is made of this begins a lineage of its own. Nor are claims, which
jivad claims list --json gives in open form. To take all of these along
move the whole store instead, which is one file:

    jivad backup FILE
    jivad --data NEWFOLDER restore FILE

To read only the texts, into any companion, as if you had written them anew:

    jivad import THISFOLDER/diary.md

(Should no entry of yours have a date, add --split heading.)
`
