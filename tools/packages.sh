# Sourced by the scripts beside it: the Debian packages that the project needs, and how to get them.
# shellcheck shell=sh

# To build pldc, to build and run its tests, and to run what `pldc build` makes.
build_packages='g++ make meson ninja-build pkgconf python3 libcli11-dev libspdlog-dev libfmt-dev libre2-dev
  libxxhash-dev nlohmann-json3-dev catch2 scdoc'
# What the suite compares with, and what programs of --target=mpi run on.
test_packages='python3-numpy libopenmpi-dev openmpi-bin'

# help_of SCRIPT [WORD]: prints the comment at the head of a script if the word asks for help.
help_of() {
  case ${2:-} in
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; exit 0 ;;
  esac
}

# need_packages NAME...: installs what is missing; asks the package system nothing when nothing is.
need_packages() {
  missing=
  for package in "$@"; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
      *' installed') ;;
      *) missing="$missing $package" ;;
    esac
  done
  [ -z "$missing" ] && return 0
  if [ "$(id -u)" != 0 ]; then
    echo "These packages are missing; as root run: apt-get install$missing" >&2
    return 1
  fi
  echo "installing:$missing" >&2
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086
  {
    apt-get update -qq || echo "the package lists could not be refreshed; trying with the old ones" >&2
    apt-get install -y -qq --no-install-recommends $missing
  } >&2
}

# configure DIR [MESON OPTIONS]: sets the build directory up unless it is.
configure() {
  dir=$1
  shift
  [ -f "$dir/build.ninja" ] || meson setup "$dir" "$@" >"/tmp/pldc-setup.$$" 2>&1 || {
    cat "/tmp/pldc-setup.$$" >&2
    rm -f "/tmp/pldc-setup.$$"
    return 1
  }
  rm -f "/tmp/pldc-setup.$$"
}
