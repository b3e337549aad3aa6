"""Systems made to order: the inverse problem of dynamics, and the conditions of Helmholtz."""
