package evidence

import "strings"

const (
	githubHead = "github:"
	refHead    = "ref:"
	// A commit's digest: at least so many digits, and at most.
	shortest, longest = 7, 40
)

// github knows a commit, a branch or a tag of a repository on GitHub, and the repository
// itself, in the ways they are named: OWNER/REPO@SHA, with github: or github:artifact: in
// front or as an address of git; addresses of its pages, of raw files, archives and the
// API. The key is github:OWNER/REPO@SHA, all in lower case, github:OWNER/REPO@ref:NAME, or
// github:OWNER/REPO.
func github(id string) (string, bool) {
	if rest, ok := cutAny(id, "git@github.com:", "ssh://git@github.com/", "git+ssh://git@github.com/", "git+https://github.com/", "git://github.com/", "github:artifact:", "github:commit:", githubHead); ok {
		return repository(rest)
	}
	if path, ok := onSite(id, "github.com"); ok {
		return page(path)
	}
	if path, ok := onSite(id, "raw.githubusercontent.com"); ok {
		return parts(path, func(rest []string) (string, bool) { return first(rest, 0) })
	}
	if path, ok := onSite(id, "codeload.github.com"); ok {
		return parts(path, func(rest []string) (string, bool) { return archived(rest, 1) })
	}
	if path, ok := onSite(id, "api.github.com"); ok {
		if path, ok = cutFold(path, "repos/"); ok {
			return parts(path, func(rest []string) (string, bool) {
				if len(rest) > 1 && (rest[0] == "commits" || rest[0] == "tarball" || rest[0] == "zipball") {
					return first(rest, 1)
				}
				if len(rest) > 2 && rest[0] == "git" && (rest[1] == "commits" || rest[1] == "trees") {
					return first(rest, 2)
				}
				return "", false
			})
		}
		return "", false
	}
	if strings.Contains(id, "://") || !strings.Contains(id, "@") {
		return "", false
	}
	if key, ok := repository(id); ok && isCommitKey(key) {
		return key, true
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
		case "commit", "commits", "tree", "blob", "raw", "blame", "edit":
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
