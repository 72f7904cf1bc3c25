from .figures import reproduction as reproduction
from .random_submatrices import SubmatrixConstants as SubmatrixConstants
from .random_submatrices import SubmatrixRow as SubmatrixRow
from .random_submatrices import submatrix_constants as submatrix_constants
