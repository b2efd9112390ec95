package evidence

import "strings"

const (
	githubHead = "github:"
	gistHead   = "gist:"
	refHead    = "ref:"
	numberHead = "number:"
	// A commit's digest: at least so many digits, and at most.
	shortest, longest = 7, 40
)

// github knows a commit, a branch or a tag of a repository on GitHub, a pull request or an
// issue, and the repository itself, in the ways they are named: OWNER/REPO@SHA, with github:
// or github:artifact: in front or as an address of git; addresses of its pages, of raw files,
// archives, patches and the API, and of those who serve its files on. The key is
// github:OWNER/REPO@SHA, all in lower case, github:OWNER/REPO@ref:NAME,
// github:OWNER/REPO@number:N, or github:OWNER/REPO; of a gist gist:ID.
func github(id string) (string, bool) {
	if rest, ok := cutAny(id, "git@github.com:", "ssh://git@github.com/", "git+ssh://git@github.com/", "git+https://github.com/", "git://github.com/", "github:artifact:", "github:commit:", githubHead); ok {
		return repository(rest)
	}
	if rest, ok := cutFold(id, gistHead); ok {
		return gist(rest)
	}
	if at, ok := located(id); ok {
		if read, ok := githubHosts[at.host]; ok {
			return read(unescaped(strings.TrimPrefix(at.path, "/")), at.query)
		}
		if strings.HasSuffix(at.host, ".jsdelivr.net") {
			return mirrored(unescaped(strings.TrimPrefix(at.path, "/")), at.query)
		}
	}
	if strings.Contains(id, "://") || !strings.Contains(id, "@") {
		return "", false
	}
	if key, ok := repository(id); ok && isCommitKey(key) {
		return key, true
	}
	return "", false
}

// githubHosts read the path and the query of an address on each host.
var githubHosts = map[string]func(path, query string) (string, bool){
	"github.com": func(path, _ string) (string, bool) { return page(path) }, "github.dev": func(path, _ string) (string, bool) { return page(path) },
	"raw.githubusercontent.com": raw, "raw.github.com": raw, "raw.githack.com": raw, "rawcdn.githack.com": raw, "rawgit.com": raw, "cdn.rawgit.com": raw,
	"media.githubusercontent.com": func(path, query string) (string, bool) { return behind(path, "media/", query, raw) },
	"patch-diff.githubusercontent.com": func(path, _ string) (string, bool) {
		return behind(path, "raw/", "", func(rest, _ string) (string, bool) { return page(rest) })
	},
	"codeload.github.com": func(path, _ string) (string, bool) {
		return parts(path, func(rest []string) (string, bool) { return archived(rest, 1) })
	},
	"api.github.com": api, "cdn.statically.io": mirrored,
	"gist.github.com": func(path, _ string) (string, bool) { return gist(path) }, "gist.githubusercontent.com": func(path, _ string) (string, bool) { return gist(path) },
}

// raw reads OWNER/REPO/REF and a file.
func raw(path, _ string) (string, bool) {
	return parts(path, func(rest []string) (string, bool) { return first(rest, 0) })
}

func behind(path, head, query string, read func(path, query string) (string, bool)) (string, bool) {
	rest, ok := cutFold(path, head)
	if !ok {
		return "", false
	}
	return read(rest, query)
}

// mirrored reads gh/OWNER/REPO[@REF] and a file.
func mirrored(path, query string) (string, bool) {
	return behind(path, "gh/", query, func(rest, _ string) (string, bool) {
		all := strings.Split(strings.Trim(rest, "/"), "/")
		if len(all) < 2 {
			return "", false
		}
		repo, ref, given := strings.Cut(all[1], "@")
		if given && ref == "" {
			return "", false
		}
		return keyOf(all[0], repo, ref)
	})
}

// api reads repos/OWNER/REPO and what of it, and gists/ID.
func api(path, query string) (string, bool) {
	if rest, ok := cutFold(path, "gists/"); ok {
		return gist(rest)
	}
	path, ok := cutFold(path, "repos/")
	if !ok {
		return "", false
	}
	return parts(path, func(rest []string) (string, bool) {
		if len(rest) == 0 {
			return "", true
		}
		switch rest[0] {
		case "contents", "readme", "license":
			return parameter(query, "ref"), true
		case "commits", "tarball", "zipball", "branches":
			if len(rest) > 1 {
				return first(rest, 1)
			}
			if ref := parameter(query, "sha"); rest[0] == "commits" && ref != "" {
				return ref, true
			}
		case "git":
			if len(rest) > 2 && (rest[1] == "commits" || rest[1] == "trees") {
				return first(rest, 2)
			}
			if len(rest) > 3 && (rest[1] == "ref" || rest[1] == "refs") && (rest[2] == "heads" || rest[2] == "tags") {
				return refHead + rest[3], true
			}
		case "releases":
			if len(rest) > 2 && rest[1] == "tags" {
				return refHead + rest[2], true
			}
		case "pulls", "issues":
			if len(rest) > 1 {
				return numbered(rest[1])
			}
		}
		return "", false
	})
}

// parameter is that of a query in its one form.
func parameter(query, name string) string {
	for pair := range strings.SplitSeq(query, "&") {
		if n, value, _ := strings.Cut(pair, "="); n == name {
			return unescaped(strings.ReplaceAll(value, "+", " "))
		}
	}
	return ""
}

// numbered is a pull request or an issue, which are numbered together.
func numbered(s string) (string, bool) {
	s = strings.TrimSuffix(strings.TrimSuffix(s, ".patch"), ".diff")
	n := strings.TrimLeft(s, "0")
	return numberHead + n, n != "" && strings.Trim(n, "0123456789") == ""
}

// gist reads [OWNER/]ID and what is in it.
func gist(path string) (string, bool) {
	for i, part := range strings.Split(strings.Trim(path, "/ "), "/") {
		if part = strings.ToLower(strings.TrimSuffix(part, ".git")); i < 2 && len(part) >= 20 && isHex(part) {
			return gistHead + part, true
		}
	}
	return "", false
}

// repository reads OWNER/REPO[@REF].
func repository(s string) (string, bool) {
	name, ref, given := strings.Cut(strings.Trim(s, "/ "), "@")
	name, fragment, _ := strings.Cut(name, "#") // OWNER/REPO#REF, as package managers write
	if !given && fragment != "" {
		ref, given = fragment, true
	}
	ref, _, _ = strings.Cut(ref, "#")
	owner, repo, found := strings.Cut(strings.Trim(name, "/"), "/")
	if !found || strings.Contains(repo, "/") && !given {
		return page(name)
	}
	return keyOf(owner, repo, ref)
}

// page reads the path of a page: OWNER/REPO and what of it.
func page(path string) (string, bool) {
	return parts(path, func(rest []string) (string, bool) {
		if len(rest) == 0 {
			return "", true
		}
		switch rest[0] {
		case "commit", "commits", "tree", "blob", "raw", "blame", "edit", "find", "zipball", "tarball":
			return first(rest, 1)
		case "archive":
			return archived(rest, 1)
		case "releases":
			if len(rest) > 2 && (rest[1] == "tag" || rest[1] == "download") {
				return refHead + rest[2], true
			}
		case "pull":
			if len(rest) > 3 && rest[2] == "commits" {
				return first(rest, 3)
			}
			if len(rest) > 1 {
				return numbered(rest[1])
			}
		case "issues":
			if len(rest) > 1 {
				return numbered(rest[1])
			}
		}
		return "", false
	})
}

// parts cuts a path into OWNER, REPO and the rest, of which ref makes the reference.
func parts(path string, ref func(rest []string) (string, bool)) (string, bool) {
	all := strings.Split(strings.Trim(path, "/"), "/")
	if len(all) < 2 {
		return "", false
	}
	// OWNER/REPO@SHA may stand in an address too.
	repo, behind, given := strings.Cut(all[1], "@")
	if given && len(all) == 2 {
		return keyOf(all[0], repo, behind)
	}
	name, ok := ref(all[2:])
	if !ok {
		return "", false
	}
	return keyOf(all[0], all[1], name)
}

// first is the reference at a place; the name of a branch may hold slashes, which cannot be
// told from a file in it, so what stands behind counts only where that is no commit and it
// says refs/heads or refs/tags.
func first(rest []string, at int) (string, bool) {
	if len(rest) <= at {
		return "", false
	}
	if len(rest) > at+2 && rest[at] == "refs" && (rest[at+1] == "heads" || rest[at+1] == "tags") {
		return refHead + rest[at+2], true
	}
	name := rest[at]
	for _, end := range []string{".patch", ".diff"} {
		if sha := strings.TrimSuffix(name, end); isCommit(sha) {
			name = sha
		}
	}
	return name, true
}

// archived is the reference of an archive.
func archived(rest []string, at int) (string, bool) {
	if len(rest) <= at {
		return "", false
	}
	rest = append([]string(nil), rest...)
	last := len(rest) - 1
	for _, end := range []string{".tar.gz", ".zip", ".tgz"} {
		rest[last] = strings.TrimSuffix(rest[last], end)
	}
	if sha, _, _ := strings.Cut(rest[last], "."); isCommit(sha) {
		rest[last] = sha
	}
	return first(rest, at)
}

// isCommit tells of the digest of a commit, or its beginning.
func isCommit(s string) bool { return len(s) >= shortest && len(s) <= longest && isHex(s) }

// keyOf makes the key; an empty ref is the repository.
func keyOf(owner, repo, ref string) (string, bool) {
	owner, repo = strings.ToLower(owner), strings.TrimSuffix(strings.ToLower(repo), ".git")
	if !isName(owner) || !isName(repo) || strings.Trim(repo, ".") == "" {
		return "", false
	}
	key := githubHead + owner + "/" + repo
	ref = strings.Trim(ref, " /")
	switch {
	case ref == "":
		return key, true
	case isCommit(ref):
		return key + "@" + strings.ToLower(ref), true
	}
	if n, ok := strings.CutPrefix(ref, numberHead); ok {
		n, ok = numbered(n)
		return key + "@" + n, ok
	}
	ref = strings.TrimPrefix(ref, refHead)
	for _, head := range []string{"refs/heads/", "refs/tags/"} {
		ref = strings.TrimPrefix(ref, head)
	}
	if ref == "" || strings.ContainsAny(ref, " ~^:?*[\\#@") {
		return "", false
	}
	return key + "@" + refHead + ref, true
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isCommitKey tells of the key of a commit.
func isCommitKey(key string) bool {
	rest, ok := strings.CutPrefix(key, githubHead)
	_, sha, found := strings.Cut(rest, "@")
	return ok && found && isCommit(sha)
}
