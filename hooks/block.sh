# >>> tokenzip >>> @ORIGIN@ (`tokenzip hooks uninstall` removes this block; the rest of the file is not ours)
# One commit of many that are being replayed: post-rewrite comes at the end. Known before even a subshell is started.
case @NAME@ in
post-commit | post-checkout) [ -d "${GIT_DIR-.git}/rebase-merge" ] || [ -d "${GIT_DIR-.git}/rebase-apply" ] ;;
*) false ;;
esac || (
	# A subshell: no variable, option or input of the hook below is touched. Whatever goes wrong here ends in exit 0.
	[ -z "${TOKENZIP_IN_HOOK-}" ] || exit 0
	[ "${TOKENZIP_HOOKS-}" != off ] || exit 0
	TOKENZIP_IN_HOOK=@NAME@
	export TOKENZIP_IN_HOOK
	# No process is started before it is clear that there is work: a rebase comes here once for each commit.
	tokenzip_git=${GIT_DIR-.git}
	[ -d "$tokenzip_git" ] || tokenzip_git=$(git rev-parse --git-dir 2>/dev/null) || exit 0
	case @NAME@ in
	post-commit | post-checkout)
		# One commit of many that are being replayed: post-rewrite comes at the end.
		if [ -d "$tokenzip_git/rebase-merge" ] || [ -d "$tokenzip_git/rebase-apply" ] || [ -d "$tokenzip_git/sequencer" ]; then
			exit 0
		fi
		;;
	post-rewrite) [ "${1-}" = rebase ] || exit 0 ;; # after an amend post-commit was here already
	esac
	[ @NAME@ != post-checkout ] || [ "${3-1}" = 1 ] || exit 0 # files were checked out, no branch
	tokenzip_common=$tokenzip_git
	[ ! -f "$tokenzip_git/commondir" ] || tokenzip_common=$(git rev-parse --git-common-dir 2>/dev/null) || exit 0
	[ -f "$tokenzip_common/tokenzip-hooks" ] || exit 0 # copied here from a repository where it was installed

	tokenzip_log=@LOG@
	[ -z "${TOKENZIP_HOME-}" ] || tokenzip_log=$TOKENZIP_HOME/logs/hooks.log
	[ -w "${tokenzip_log%/*}" ] || tokenzip_log=/dev/null
	tokenzip_python=@PYTHON@
	if [ -x "$tokenzip_python" ]; then
		set -- "$tokenzip_python" @FLAGS@ -m tokenzip.hooks @NAME@ "$@"
	elif command -v tokenzip >/dev/null 2>&1; then
		set -- tokenzip hooks run @NAME@ "$@"
	else
		exit 0
	fi

	if [ @NAME@ = pre-commit ]; then
		tokenzip_said=$("$@" 2>&1)
		tokenzip_code=$?
		case $tokenzip_code in
		0 | @BLOCKED@) [ -z "$tokenzip_said" ] || printf '%s\n' "$tokenzip_said" >&2 ;;
		*) printf '%s\n' "$tokenzip_said" >>"$tokenzip_log" ;;
		esac
		[ "$tokenzip_code" -ne @BLOCKED@ ] || exit 1
	else
		nohup "$@" >>"$tokenzip_log" 2>&1 &
	fi
	exit 0
) </dev/null || exit 1
@KEPT@# <<< tokenzip <<<
