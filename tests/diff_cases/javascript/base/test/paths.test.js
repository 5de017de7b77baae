const { joinPath } = require('../lib/paths')

function check (value, wanted) {
  if (value !== wanted) throw new Error(`${value} is not ${wanted}`)
}

check(joinPath('a', 'b'), 'a/b')
