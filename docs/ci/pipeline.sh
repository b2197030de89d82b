#!/usr/bin/env bash
# What a pipeline does with cuda-lock, the same on every CI system:
#
#   pipeline.sh check            fails when the lock is stale, and says why
#   pipeline.sh upgrade          moves the pins, commits them to a branch of their own, opens a pull request
#   pipeline.sh audit FILE...    judges files and leaves a SARIF report
#
# It is told what to do by environment variables, so that nothing of a repository is ever read as a command:
#
#   CUDA_LOCK                    the program; else cuda-lock on the PATH
#   CUDA_LOCK_MANIFEST           env.toml, from the top of the repository
#   CUDA_LOCK_FLAGS              further flags, separated by spaces (default of upgrade: --upgrade)
#   CUDA_LOCK_BRANCH             the branch of upgrade; it belongs to this script, which replaces it
#   CUDA_LOCK_BASE               the branch to merge into; else the one that is checked out
#   CUDA_LOCK_TITLE              the title of commit and pull request
#   CUDA_LOCK_DENY_REGRESSIONS   true: no pull request when the minimum driver rose or a GPU lost its cover
#   CUDA_LOCK_SARIF              where audit writes its report
set -euo pipefail

cuda_lock=${CUDA_LOCK:-cuda-lock}
manifest=${CUDA_LOCK_MANIFEST:-env.toml}
branch=${CUDA_LOCK_BRANCH:-cuda-lock/upgrade}
title=${CUDA_LOCK_TITLE:-Upgrade the CUDA environment}
sarif=${CUDA_LOCK_SARIF:-cuda-lock.sarif}

fail() {
  echo "error: $*" >&2
  exit 2
}

# Text that GitHub shows on the page of the run; elsewhere standard output.
summary() {
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat >> "$GITHUB_STEP_SUMMARY"
  else
    cat
  fi
}

# A result for later steps of a GitHub workflow.
output() {
  if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "$1=$2" >> "$GITHUB_OUTPUT"
  fi
}

flags=()
read_flags() {
  read -ra flags <<< "${CUDA_LOCK_FLAGS:-$1}"
}

check() {
  read_flags ""
  local said code=0
  said=$("$cuda_lock" resolve --check ${flags[@]+"${flags[@]}"} -- "$manifest" 2>&1) || code=$?
  echo "$said"
  if [ "$code" -eq 1 ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    { echo "### The lock of \`$manifest\` is stale"; echo; echo '```'; echo "$said"; echo '```'; } | summary
  fi
  output up-to-date "$([ "$code" -eq 0 ] && echo true || echo false)"
  return "$code"
}

# The files that resolve writes beside env.toml, as arguments of git: those there now and those that git knows.
lock_files() {
  git ls-files --cached --others --exclude-standard -z -- ':(glob)pylock*.toml' ':(glob)requirements*.txt'
}

# True when git would commit something of the staged files.
staged() {
  ! git diff --cached --quiet
}

upgrade() {
  read_flags "--upgrade"
  git diff --cached --quiet || fail "something is staged already; upgrade commits nothing but the lock"
  local base folder name
  base=${CUDA_LOCK_BASE:-$(git symbolic-ref --quiet --short HEAD || true)}
  [ -n "$base" ] || fail "no branch is checked out; name the one to merge into with CUDA_LOCK_BASE"
  [ "$base" != "$branch" ] || fail "the branch of the upgrade is the branch to merge into"
  folder=$(dirname -- "$manifest")
  name=$(basename -- "$manifest")
  cd -- "$folder"

  "$cuda_lock" resolve ${flags[@]+"${flags[@]}"} -- "$name"
  lock_files | xargs -0 git add --
  if ! staged; then
    echo "nothing moved"
    output changed false
    return 0
  fi

  local body text
  body=$("$cuda_lock" diff --git HEAD --format markdown)
  text=$("$cuda_lock" diff --git HEAD)
  if [ "${CUDA_LOCK_DENY_REGRESSIONS:-false}" = true ]; then
    local code=0
    "$cuda_lock" diff --git HEAD --deny-regressions > /dev/null || code=$?
    if [ "$code" -ne 0 ]; then
      echo "$text"
      echo "$body" | summary
      git reset --quiet
      output changed false
      return "$code"
    fi
  fi
  echo "$body" | summary
  output changed true

  git checkout --quiet -B "$branch"
  git -c "user.name=${GIT_AUTHOR_NAME:-cuda-lock}" -c "user.email=${GIT_AUTHOR_EMAIL:-cuda-lock@localhost}" \
    commit --quiet --message "$title" --message "$text"

  # The same upgrade of the same base is there already: nobody is told twice.
  if git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch" 2> /dev/null \
    && [ "$(git rev-parse 'HEAD^{tree}')" = "$(git rev-parse "refs/remotes/origin/$branch^{tree}")" ]; then
    echo "$branch is there already"
  elif [ -n "${GITLAB_CI:-}" ]; then
    # GitLab opens the merge request when it is pushed; its text is that of the commit.
    git push --quiet --force -o merge_request.create -o "merge_request.target=$base" \
      -o "merge_request.title=$title" -o merge_request.remove_source_branch origin "HEAD:refs/heads/$branch"
  else
    git push --quiet --force origin "HEAD:refs/heads/$branch"
  fi
  output branch "$branch"
  if [ -z "${GITLAB_CI:-}" ] && command -v gh > /dev/null; then
    pull_request "$base" "$body"
  fi
}

# Opens a pull request on GitHub, or renews the text of the one that is open.
pull_request() {
  local number
  number=$(gh pr list --head "$branch" --base "$1" --state open --json number --jq '.[0].number // empty')
  if [ -n "$number" ]; then
    gh pr edit "$number" --title "$title" --body "$2"
  else
    gh pr create --head "$branch" --base "$1" --title "$title" --body "$2"
  fi
}

audit() {
  read_flags ""
  [ "$#" -gt 0 ] || fail "name the files to audit"
  local code=0
  "$cuda_lock" audit --format sarif ${flags[@]+"${flags[@]}"} -- "$@" > "$sarif" || code=$?
  # Without a report there is nothing to upload, and nothing to summarise.
  if [ ! -s "$sarif" ]; then
    rm -f -- "$sarif"
    return "$code"
  fi
  output sarif "$sarif"
  "$cuda_lock" audit --format markdown ${flags[@]+"${flags[@]}"} -- "$@" | summary || true
  return "$code"
}

command=${1:-}
[ "$#" -eq 0 ] || shift
case "$command" in
  check) check ;;
  upgrade) upgrade ;;
  audit) audit "$@" ;;
  *) fail "usage: pipeline.sh check | upgrade | audit FILE..." ;;
esac
